import { defaultHeldBytes, type HeldReport, overheadBytes } from './held-reports.ts';

/** Octets of synced reports in memory: reports are usually delivered and acknowledged before there are as many. */
const keptBytes = 8 * 1024 * 1024;

interface Recent {
  readonly seq: number;
  readonly report: HeldReport;
}

/**
 * The reports written last, without gaps: they are delivered without being read from the disk, and written once more
 * when a sync fails. Pure, and bounded: synced ones by `keptBytes`, others by the memory for held reports.
 */
export class RecentReports {
  readonly #maxBytes: number;
  #reports: Recent[] = [];
  #bytes = 0;

  constructor(maxBytes = defaultHeldBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Octets that may wait for a sync; those of synced reports are kept only up to a limit, and not counted. */
  get unsynced(): number {
    return this.#bytes > keptBytes ? this.#bytes : 0;
  }

  /** Whether so many wait for a sync that new calls must be rejected. */
  get refuses(): boolean {
    return this.unsynced * 2 >= this.#maxBytes;
  }

  /** @param first number of the first report @param synced highest number that is on the device */
  add(first: number, reports: readonly HeldReport[], synced: number): void {
    for (const [index, report] of reports.entries()) {
      this.#reports.push({ seq: first + index, report });
      this.#bytes += report.body.length + overheadBytes;
    }
    if (this.#bytes > keptBytes) this.trim(synced);
  }

  /** Drops the oldest of the reports up to `synced` while there are too many octets, and any over the limit. */
  trim(synced: number): void {
    if (this.#bytes <= keptBytes) return;
    let bytes = this.#bytes;
    const first = this.#reports.findIndex(({ seq, report }) => {
      if (bytes <= keptBytes / 2 || (seq > synced && bytes <= this.#maxBytes)) return true;
      bytes -= report.body.length + overheadBytes;
      return false;
    });
    this.#dropFirst(first === -1 ? this.#reports.length : first);
  }

  acknowledge(seq: number): void {
    this.#dropFirst(this.#placeAfter(seq));
  }

  /** Whether all reports above `after` are here. @param last the highest number given */
  reaches(after: number, last: number): boolean {
    const [oldest] = this.#reports;
    return oldest === undefined ? after >= last : after + 1 >= oldest.seq;
  }

  /** The reports above `after`, oldest first. */
  after(after: number, limit = this.#reports.length): Recent[] {
    const place = this.#placeAfter(after);
    return this.#reports.slice(place, place + limit);
  }

  #placeAfter(seq: number): number {
    const [oldest] = this.#reports;
    return oldest === undefined ? 0 : Math.min(Math.max(0, seq + 1 - oldest.seq), this.#reports.length);
  }

  #dropFirst(count: number): void {
    if (count === 0) return;
    for (const { report } of this.#reports.slice(0, count)) this.#bytes -= report.body.length + overheadBytes;
    this.#reports = this.#reports.slice(count);
  }
}
