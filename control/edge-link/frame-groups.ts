/**
 * Stores frames of many edges together. Each transaction ends with a commit that waits for the disk, so a hundred edges
 * with a frame each would wait for a hundred commits, and hold all connections to the database meanwhile. Here the first
 * frame is stored at once, and those that come meanwhile share the next transaction. When more wait than a transaction
 * takes, several run beside each other.
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

export interface FrameGroupsParts<Frame, Stored> {
  /** Stores all frames or none; returns a result for each, in order. */
  storeAll(frames: readonly Frame[]): Promise<readonly Stored[]>;
  /** Most transactions beside each other. */
  readonly atOnce: number;
  /** Frames with the same source never are in two transactions at once, and are stored in their order. */
  sourceOf(frame: Frame): string;
  /** Frames of different kinds do not share a transaction. */
  kindOf(frame: Frame): string;
}

export class FrameGroups<Frame extends Sized, Stored> {
  readonly #parts: FrameGroupsParts<Frame, Stored>;
  #waiting: Waiting<Frame, Stored>[] = [];
  #waitingReports = 0;
  #running = 0;
  /** Sources whose frames are being stored. */
  readonly #busy = new Set<string>();

  constructor(parts: FrameGroupsParts<Frame, Stored>) {
    this.#parts = parts;
  }

  store(frame: Frame): Promise<Stored> {
    const done = Promise.withResolvers<Stored>();
    this.#waiting.push({ frame, done });
    this.#waitingReports += frame.reports.length;
    this.#start();
    return done.promise;
  }

  #start(): void {
    while (
      this.#running === 0 ||
      (this.#running < this.#parts.atOnce && this.#waitingReports > mostReports)
    ) {
      const group = this.#nextGroup();
      if (group.length === 0) return;
      void this.#run(group);
    }
  }

  /** The oldest frame, and others of its kind, of sources that are not busy. */
  #nextGroup(): Waiting<Frame, Stored>[] {
    const { kindOf, sourceOf } = this.#parts;
    const group: Waiting<Frame, Stored>[] = [];
    const left: Waiting<Frame, Stored>[] = [];
    /** Sources with a frame that stays: their later ones stay, too. */
    const staying = new Set(this.#busy);
    let reports = 0;
    let kind: string | null = null;
    for (const one of this.#waiting) {
      const source = sourceOf(one.frame);
      const fits =
        (kind === null || kindOf(one.frame) === kind) &&
        (group.length === 0 || reports + one.frame.reports.length <= mostReports);
      if (staying.has(source) || !fits) {
        staying.add(source);
        left.push(one);
        continue;
      }
      kind ??= kindOf(one.frame);
      reports += one.frame.reports.length;
      group.push(one);
    }
    this.#waiting = left;
    this.#waitingReports -= reports;
    return group;
  }

  async #run(group: readonly Waiting<Frame, Stored>[]): Promise<void> {
    const sources = group.map(({ frame }) => this.#parts.sourceOf(frame));
    for (const source of sources) this.#busy.add(source);
    this.#running++;
    // A frame that cannot be stored takes no other with it.
    if (!(await this.#stored(group, group.length === 1)))
      for (const one of group) await this.#stored([one], true);
    this.#running--;
    for (const source of sources) this.#busy.delete(source);
    this.#start();
  }

  /** @param isLast whether a failure is the frames' result @returns whether they have one */
  async #stored(group: readonly Waiting<Frame, Stored>[], isLast: boolean): Promise<boolean> {
    try {
      const results = await this.#parts.storeAll(group.map(({ frame }) => frame));
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
