// What the applications share: they work until SIGTERM, note each thing that a user would complain
// about, and then print what they did. The exit code is 0 only if there is nothing to complain about
// and each kind of work was done.

export class Work {
  #running = true;
  #done = new Map();
  #complaints = [];

  constructor() {
    process.on('SIGTERM', () => { this.#running = false; });
  }

  get running() { return this.#running; }

  did(what) { this.#done.set(what, (this.#done.get(what) ?? 0) + 1); }

  complain(what) {
    this.#complaints.push(what);
    console.log(`complaint: ${what}`);
  }

  // Calls `step` again and again, `pause` milliseconds apart. One that throws while the database is
  // away is no complaint: the application would try again too.
  async repeat(pause, step) {
    while (this.#running) {
      await step().catch(() => this.did('steps without database'));
      this.did('steps');
      // The test waits for these lines.
      if (this.#done.get('steps') % 20 === 0) console.log('progress');
      await sleep(pause);
    }
  }

  // Ends the process. `expected`: what must have been done.
  finish(expected) {
    for (const what of expected) {
      if (!this.#done.has(what)) this.complain(`there were no ${what}`);
    }
    for (const [what, count] of this.#done) console.log(`${what}: ${count}`);
    process.exit(this.#complaints.length === 0 ? 0 : 1);
  }
}

// setTimeout() may be a millisecond early.
export async function sleepUntil(time) {
  for (let now = Date.now(); now < time; now = Date.now()) await sleep(time - now);
}

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
