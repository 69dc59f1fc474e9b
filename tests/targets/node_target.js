// SPDX-License-Identifier: GPL-2.0-or-later

// Program node_target.js allocates objects of many sizes, drops a third of them, and stops
// itself between two calls of v8.getHeapSpaceStatistics(). When it continues, it prints the
// figures of both. With the argument "worker", a second thread has a heap of its own.

const v8 = require('v8');
const fs = require('fs');
const os = require('os');
const worker = require('worker_threads');

const keep = [];

function allocate(count) {
  for (let i = 0; i < count; i++) keep.push({ a: i, s: 'x' + i, l: [i, i + 1] });
  for (let i = 0; i < 40; i++) keep.push(new Array(50000).fill(i));
  for (let i = 0; i < keep.length; i += 3) keep[i] = null;
}

let rounds = 0;

// All rounds but the last one make V8 compile and allocate what the calls need.
function step() {
  const isLast = ++rounds === 20;
  const signal = isLast ? os.constants.signals.SIGSTOP : 0;
  const before = v8.getHeapSpaceStatistics();

  process.kill(process.pid, signal);
  const after = v8.getHeapSpaceStatistics();

  if (!isLast) {
    setTimeout(step, 5);
    return;
  }
  fs.writeSync(1, JSON.stringify({ before, after, external: keep.buffer.length }) + '\n');
  setInterval(() => keep.length, 1000000);
}

allocate(worker.isMainThread ? 80000 : 20000);
if (!worker.isMainThread) {
  worker.parentPort.postMessage('');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
keep.buffer = Buffer.alloc(20 << 20, 1);
if (global.gc) { gc(); gc(); }
if (process.argv[2] === 'worker')
  new worker.Worker(__filename).on('message', step);
else
  step();
