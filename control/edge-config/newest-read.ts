/**
 * One read for all edges that need the same version: after a change and after a restart of control every edge asks for
 * it at once.
 */
export class NewestRead<T> {
  #of = '';
  #value: Promise<T> | null = null;

  /**
   * What `read` returned for the same key, also while it still reads.
   * @param of names the version, which its caller has just read: what was read for it is never older than that
   */
  get(of: string, read: () => Promise<T>): Promise<T> {
    if (this.#value !== null && this.#of === of) return this.#value;
    const value = read();
    this.#of = of;
    this.#value = value;
    value.catch(() => {
      if (this.#value === value) this.#value = null;
    });
    return value;
  }
}
