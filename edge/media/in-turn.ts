/** Runs operations one after another, also after one that failed. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(operation: () => Promise<T>): Promise<T> {
    const result = this.#last.then(operation);
    this.#last = result.catch(() => {});
    return result;
  }
}
