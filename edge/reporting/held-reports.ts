/** Reports that could not be written to disk, in order of arrival. Pure, and bounded. */

/** A report as it is stored. */
export interface HeldReport {
  readonly at: string;
  /** JSON text of the body. */
  readonly body: string;
  /** For call records: the call, whether this is the last record, and its JSON text; null for other reports. */
  readonly call: { readonly id: string; readonly ended: boolean; readonly record: string } | null;
}

/**
 * Maximum size of held report text, octets. From half of it on no new calls are taken: the rest is reserved for live
 * calls, 64 KiB for each of 500.
 */
export const defaultHeldBytes = 64 * 1024 * 1024;
/** Overhead of a report besides its text. */
export const overheadBytes = 200;

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

  /** Whether new calls must be rejected because their reports may not fit. */
  get refuses(): boolean {
    return this.#bytes * 2 >= this.#maxBytes;
  }

  /**
   * Appends a report. Over the limit only the last record of a call is accepted: there are no more of these than live
   * calls.
   * @returns whether it was accepted
   */
  push(report: HeldReport): boolean {
    if (this.#bytes >= this.#maxBytes && !report.call?.ended) return false;
    this.#reports.push(report);
    this.#bytes += report.body.length + overheadBytes;
    return true;
  }

  /** The oldest reports. */
  first(most: number): readonly HeldReport[] {
    return this.#reports.slice(0, most);
  }

  /** Removes the oldest reports: they are on disk. */
  drop(count: number): void {
    for (const { body } of this.#reports.slice(0, count)) this.#bytes -= body.length + overheadBytes;
    this.#reports = this.#reports.slice(count);
  }
}
