// What the drivers in Node share: the command line, and the log of what was done.
"use strict";
const fs = require("fs");

exports.CHUNK = 1000; // one-shots in a call
exports.CONCURRENCY = 100;
exports.PERIOD_MS = 10_000;
exports.sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// A line "name due_ms begun_ms" for each run that was done. Written at once when runs take time (a kill must not take what
// was done), else every 100 ms; the rest goes when SIGTERM ends the process.
exports.openLog = (path, workMs) => {
  const fd = fs.openSync(path, "a");
  let lines = [];
  const flush = () => {
    if (lines.length) fs.writeSync(fd, lines.join(""));
    lines = [];
  };
  process.on("SIGTERM", () => {
    flush();
    process.exit(0);
  });
  setInterval(flush, 100);
  return (name, dueMs, begunMs) => {
    lines.push(`${name} ${dueMs} ${begunMs}\n`);
    if (workMs) flush();
  };
};

// Runs a driver's `schedule N START_MS SPREAD_MS`, `enqueue N DUE_MS` (prints the seconds it took) or `work LOG WORK_MS`.
exports.run = async ({ schedule, enqueue, work }) => {
  const [command, ...args] = process.argv.slice(2);
  if (command === "work") return work(args[0], Number(args[1]));
  const numbers = args.map(Number);
  if (command === "schedule") await schedule(...numbers);
  if (command === "enqueue") console.log(await enqueue(...numbers));
  return process.exit(0);
};

// Seconds that it takes to hand all of them over, `put(first, count)` by `put`, one after the other.
exports.timed = async (n, put) => {
  const begun = process.hrtime.bigint();
  for (let first = 0; first < n; first += exports.CHUNK) await put(first, Math.min(exports.CHUNK, n - first));
  return Number(process.hrtime.bigint() - begun) / 1e9;
};

exports.range = (first, count, make) => Array.from({ length: count }, (_, i) => make(first + i));
