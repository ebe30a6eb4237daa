// Runs actions one after the other, in the order in which they came.
export class Mutex {
  #last = Promise.resolve();

  run(action) {
    const result = this.#last.then(action);
    this.#last = result.catch(() => {});
    return result;
  }
}
