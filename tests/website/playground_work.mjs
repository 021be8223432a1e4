// Tries website/playground/page/work.js with a worker and a clock that stand still until they are told to go on.
import assert from "node:assert/strict";

const workers = [];
const timers = new Map();
globalThis.setTimeout = (act) => (timers.set(timers.size + 1, act), timers.size);
globalThis.clearTimeout = (timer) => timers.delete(timer);
globalThis.Worker = class {
  asked = [];
  constructor() {
    workers.push(this);
  }
  postMessage(message) {
    this.asked.push(message);
  }
  terminate() {
    this.isGone = true;
  }
  answer(answer) {
    this.onmessage({ data: { id: this.asked.at(-1).id, ...answer } });
  }
};
const { SUPERSEDED, Work } = await import(process.argv[2]);

const told = [];
const work = new Work("worker.js", (question) => told.push(question));
const hello = work.ask("hello", null);
const results = ["a", "b", "c"].map((text) => work.ask("findings", text));
work.ask("program", "c", "pane");
assert.deepEqual(workers[0].asked.map(({ question }) => question), ["hello"]); // one at a time
assert.equal(await results[0], SUPERSEDED);
assert.equal(timers.size, 0); // a start is waited for

workers[0].answer({ answer: {} });
assert.deepEqual(await hello, {});
assert.deepEqual(workers[0].asked.at(-1).subject, "c"); // the newest alone, and findings first
const newer = work.ask("findings", "d");
assert.equal(await results[2], SUPERSEDED);
workers[0].answer({ answer: "stale" });
assert.equal(workers[0].asked.at(-1).question, "program");
work.drop("pane");
workers[0].answer({ answer: "stale" });
assert.equal(workers[0].asked.at(-1).subject, "d");
workers[0].answer({ answer: "of d" });
assert.equal(await newer, "of d");
assert.equal(told.at(-1), null);

const slow = work.ask("findings", "slow");
const after = work.ask("findings", "after");
assert.equal(await slow, SUPERSEDED);
[...timers.values()].at(-1)(); // patience ends
assert.equal(workers.length, 2);
assert.ok(workers[0].isGone);
assert.equal(workers[1].asked[0].subject, "after");
workers[1].answer({ failure: "out of memory" });
await assert.rejects(after, /out of memory/);
assert.equal(workers.length, 3); // a Python that failed is not asked again
const lost = work.ask("findings", "lost");
workers[2].onerror({ preventDefault() {}, target: workers[2], message: "" });
await assert.rejects(lost, /did not start/);

workers[2].onerror({ preventDefault() {}, target: workers[2], message: "late" }); // of one that is gone
const idle = workers.at(-1);
idle.onerror({ preventDefault() {}, target: idle, message: "404" }); // before anything was asked
const anew = work.ask("hello", null);
assert.ok(workers.at(-1) !== idle && workers.at(-1).asked.length === 1);
workers.at(-1).answer({ answer: {} });
await anew;

delete globalThis.Worker;
const without = new Work("worker.js", (question) => told.push(question));
await assert.rejects(without.ask("hello", null), /this browser starts none/);
await assert.rejects(without.ask("findings", "a"), /this browser starts none/);
assert.equal(told.at(-1), null);
