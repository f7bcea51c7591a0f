// graphile-worker on PostgreSQL: jobs in bulk by its add_jobs, a runner with a local queue. Its cron counts in minutes.
"use strict";
const { Logger, run: runWorker, runMigrations } = require("graphile-worker");
const { Pool } = require("pg");
const { CONCURRENCY, openLog, range, run, sleep, timed } = require("./common");

const pgPool = new Pool({ connectionString: process.env.PEER_STORE, max: 10 });
const ADD = "SELECT graphile_worker.add_jobs(ARRAY(SELECT json_populate_recordset(NULL::graphile_worker.job_spec, $1::json)))";

run({
  async enqueue(n, dueMs) {
    await runMigrations({ pgPool });
    const due = new Date(dueMs).toISOString();
    return timed(n, (first, count) =>
      pgPool.query(ADD, [
        JSON.stringify(range(first, count, (i) => ({ identifier: "x", payload: { name: i, due: dueMs }, run_at: due }))),
      ]),
    );
  },

  async work(path, workMs) {
    const log = openLog(path, workMs);
    await runWorker({
      pgPool,
      concurrency: CONCURRENCY,
      pollInterval: 100,
      noHandleSignals: true,
      logger: new Logger(() => () => {}),
      preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
      taskList: {
        x: async ({ name, due }) => {
          const begun = Date.now();
          if (workMs) await sleep(workMs);
          log(name, due, begun);
        },
      },
    });
  },
});
