/** Reports that the disk did not take, in the order in which they came. Pure, and bounded. */

/** A report as it is stored. */
export interface HeldReport {
  readonly at: string;
  /** JSON text of the body. */
  readonly body: string;
  /** Of a call record: whose, whether it is the last one, and the record's own JSON text; null for other reports. */
  readonly call: { readonly id: string; readonly ended: boolean; readonly record: string } | null;
}

/**
 * Octets of report text. No new calls are taken from the half of it on: the rest is for the calls that are up, 64 KiB
 * for each of 500.
 */
const defaultHeldBytes = 64 * 1024 * 1024;
/** What a report costs besides its text. */
const overheadBytes = 200;

export class HeldReports {
  readonly #maxBytes: number;
  #reports: HeldReport[] = [];
  #bytes = 0;

  constructor(maxBytes = defaultHeldBytes) {
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#reports.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether new calls would bring more than there is room for. */
  get refuses(): boolean {
    return this.#bytes * 2 >= this.#maxBytes;
  }

  /**
   * Keeps a report at the end of the line. Over the bound only the last record of a call is kept: there are no more
   * of these than calls that were up.
   * @returns whether it was kept
   */
  push(report: HeldReport): boolean {
    if (this.#bytes >= this.#maxBytes && !report.call?.ended) return false;
    this.#reports.push(report);
    this.#bytes += report.body.length + overheadBytes;
    return true;
  }

  /** The oldest ones. */
  first(most: number): readonly HeldReport[] {
    return this.#reports.slice(0, most);
  }

  /** Lets go of the oldest ones: they are on disk. */
  drop(count: number): void {
    for (const { body } of this.#reports.slice(0, count)) this.#bytes -= body.length + overheadBytes;
    this.#reports = this.#reports.slice(count);
  }
}
