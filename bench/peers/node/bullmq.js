// BullMQ on Redis: job schedulers, delayed jobs in bulk, workers.
"use strict";
const { Queue, Worker } = require("bullmq");
const { CHUNK, CONCURRENCY, PERIOD_MS, openLog, range, run, sleep, timed } = require("./common");

const { hostname, port } = new URL(process.env.PEER_STORE);
const connection = { host: hostname, port: Number(port), maxRetriesPerRequest: null };
const newQueue = () =>
  new Queue("q", { connection, defaultJobOptions: { removeOnComplete: { count: 1000 }, removeOnFail: 1000 } });

run({
  async schedule(n, startMs, spreadMs) {
    const queue = newQueue();
    for (let first = 0; first < n; first += CHUNK)
      await Promise.all(
        range(first, Math.min(CHUNK, n - first), (i) => {
          const offset = Math.floor((i * spreadMs) / n);
          return queue.upsertJobScheduler(`s${i}`, { every: PERIOD_MS, startDate: startMs + offset, offset });
        }),
      );
  },

  async enqueue(n, dueMs) {
    const queue = newQueue();
    await queue.waitUntilReady();
    return timed(n, (first, count) =>
      queue.addBulk(range(first, count, (i) => ({ name: "x", data: { name: i, due: dueMs }, opts: { delay: dueMs - Date.now() } }))),
    );
  },

  work(path, workMs) {
    const log = openLog(path, workMs);
    const worker = new Worker(
      "q",
      async (job) => {
        const begun = Date.now();
        if (workMs) await sleep(workMs);
        // a scheduler's job is "repeat:KEY:DUE"
        if (job.data.due) log(job.data.name, job.data.due, begun);
        else log(job.repeatJobKey, job.id.split(":").pop(), begun);
      },
      { connection, concurrency: CONCURRENCY },
    );
    worker.on("error", (error) => console.error(error.message));
  },
});
