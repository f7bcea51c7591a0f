// pg-boss on PostgreSQL: jobs in bulk by insert(), and loops of fetch() and complete(), its fastest documented way (work()
// looks every half second at most). Its schedules count in minutes.
"use strict";
const PgBoss = require("pg-boss");
const { openLog, range, run, sleep, timed } = require("./common");

const LOOPS = 4;
const BATCH = 500;
const POLL_MS = 20;

const newBoss = async () => {
  const boss = new PgBoss({ connectionString: process.env.PEER_STORE, max: 10 });
  boss.on("error", (error) => console.error(error.message));
  await boss.start();
  return boss;
};

run({
  async enqueue(n, dueMs) {
    const boss = await newBoss();
    await boss.createQueue("x", { name: "x" });
    const startAfter = new Date(dueMs);
    return timed(n, (first, count) => boss.insert(range(first, count, (i) => ({ name: "x", data: { name: i, due: dueMs }, startAfter }))));
  },

  async work(path, workMs) {
    const log = openLog(path, workMs);
    const boss = await newBoss();
    const loop = async () => {
      for (;;) {
        const jobs = await boss.fetch("x", { batchSize: BATCH });
        if (!jobs.length) {
          await sleep(POLL_MS);
          continue;
        }
        const begun = Date.now();
        if (workMs) await sleep(workMs);
        await boss.complete("x", jobs.map((job) => job.id));
        for (const job of jobs) log(job.data.name, job.data.due, begun);
      }
    };
    for (let i = 0; i < LOOPS; i++) loop();
  },
});
