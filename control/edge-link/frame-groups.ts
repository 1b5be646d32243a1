/**
 * Stores frames of many edges together. Transactions that write run one after another, each with a commit that waits for
 * the disk, so a hundred edges with a frame each would wait for a hundred commits, and hold all connections to the
 * database meanwhile. Here the first frame is stored at once, and those that come meanwhile share the next transaction.
 * Each edge has at most one frame here: its link reads on when it is stored.
 */

/** Most reports of a transaction, unless a single frame has more: other writers wait for it. */
const mostReports = 500;

/** Anything with reports. */
interface Sized {
  readonly reports: readonly unknown[];
}

interface Waiting<Frame, Stored> {
  readonly frame: Frame;
  readonly done: PromiseWithResolvers<Stored>;
}

export class FrameGroups<Frame extends Sized, Stored> {
  readonly #storeAll: (frames: readonly Frame[]) => Promise<readonly Stored[]>;
  #waiting: Waiting<Frame, Stored>[] = [];
  #storing = false;

  /** @param storeAll stores all frames or none; returns a result for each, in order */
  constructor(storeAll: (frames: readonly Frame[]) => Promise<readonly Stored[]>) {
    this.#storeAll = storeAll;
  }

  store(frame: Frame): Promise<Stored> {
    const done = Promise.withResolvers<Stored>();
    this.#waiting.push({ frame, done });
    if (!this.#storing) void this.#work();
    return done.promise;
  }

  async #work(): Promise<void> {
    this.#storing = true;
    while (this.#waiting.length > 0) {
      const group = this.#nextGroup();
      // A frame that cannot be stored takes no other with it.
      if (!(await this.#stored(group, group.length === 1)))
        for (const one of group) await this.#stored([one], true);
    }
    this.#storing = false;
  }

  #nextGroup(): Waiting<Frame, Stored>[] {
    let reports = 0;
    const end = this.#waiting.findIndex(({ frame }, index) => {
      reports += frame.reports.length;
      return index > 0 && reports > mostReports;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  /** @param isLast whether a failure is the frames' result @returns whether they have one */
  async #stored(group: readonly Waiting<Frame, Stored>[], isLast: boolean): Promise<boolean> {
    try {
      const results = await this.#storeAll(group.map(({ frame }) => frame));
      for (const [index, { done }] of group.entries()) {
        const result = results[index];
        if (result === undefined) done.reject(new Error('A frame was stored without a result.'));
        else done.resolve(result);
      }
      return true;
    } catch (error) {
      if (isLast) for (const { done } of group) done.reject(error);
      return isLast;
    }
  }
}
