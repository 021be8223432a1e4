// The worker, asked one question at a time. Of the questions of a slot only the newest counts: an older one that waits
// is not asked, and the answer of one that runs is not heard. A worker that is busy with it for too long starts anew.
// Only this file knows whether there is a worker: where there is none, a question starts one, or fails.

const PATIENCE = 4000; // ms that a stale question may keep the worker from a newer one; a start takes about as long
export const SUPERSEDED = Symbol("a newer question took its place");

export class Work {
  // `onBusy(question)` hears what the worker does, or null.
  constructor(url, onBusy) {
    this.url = url;
    this.onBusy = onBusy;
    this.waiting = new Map();
    this.running = null;
    this.count = 0;
    this.start();
  }

  // Gives the worker, or null where the browser has none; `lack` tells why.
  start() {
    this.worker?.terminate();
    this.worker = null;
    this.hasStarted = false;
    try {
      this.worker = new Worker(this.url, { type: "module" });
    } catch (failure) {
      this.lack = `Python runs in a worker, and this browser starts none (${failure.message})`;
      return null;
    }
    this.worker.onmessage = ({ data }) => data.id === this.running?.id && this.finish(data);
    this.worker.onerror = (event) => this.fail(event);
    return this.worker;
  }

  fail(event) {
    event.preventDefault();
    if (event.target !== this.worker) return; // the error of one that is gone
    if (this.running) this.finish({ failure: event.message || "the worker did not start" });
    else this.worker = null;
  }

  // Resolves with an answer or SUPERSEDED; rejects where Python fails.
  ask(question, subject, slot = question) {
    return new Promise((resolve, reject) => {
      this.waiting.get(slot)?.resolve(SUPERSEDED);
      this.waiting.set(slot, { id: (this.count += 1), question, subject, slot, resolve, reject });
      if (this.running?.slot === slot) this.forget();
      this.next();
    });
  }

  // Nobody waits for what runs any more.
  forget() {
    this.running.resolve(SUPERSEDED);
    if (!this.hasStarted) return; // a start that begins anew would not be sooner
    this.timer ??= setTimeout(() => {
      this.running = null;
      this.start();
      this.next();
    }, PATIENCE);
  }

  // Drops what waits or runs in a slot.
  drop(slot) {
    this.waiting.get(slot)?.resolve(SUPERSEDED);
    this.waiting.delete(slot);
    if (this.running?.slot === slot) this.forget();
  }

  next() {
    if (this.running) return;
    const [first] = this.waiting.values();
    this.running = first ?? null;
    clearTimeout(this.timer);
    this.timer = null;
    this.onBusy(first?.question ?? null);
    if (!first) return;
    this.waiting.delete(first.slot);
    if (!this.worker && !this.start()) return this.finish({ failure: this.lack });
    this.worker.postMessage({ id: first.id, question: first.question, subject: first.subject });
  }

  finish({ answer, failure }) {
    const { resolve, reject } = this.running;
    this.running = null;
    this.hasStarted = true;
    if (failure === undefined) resolve(answer);
    else {
      reject(new Error(failure));
      this.start(); // Python may be in any state
    }
    this.next();
  }
}
