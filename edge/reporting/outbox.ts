import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { newId } from '#shared/ids.ts';
import { type StorageFault, storageFault } from '#shared/storage-fault.ts';
import { abandoned } from './call-records.ts';
import { CallShares } from './call-shares.ts';
import { defaultHeldBytes, type HeldReport, HeldReports } from './held-reports.ts';
import { aliveLine, entriesOf, liveLine, type OutboxHead, outboxLine, reportLine } from './journal/entry.ts';
import type { Frame } from './journal/frame.ts';
import { type Damage, type Gone, Journal } from './journal/journal.ts';
import type { SegmentFiles } from './journal/segment-files.ts';
import { knownOutbox } from './known-outbox.ts';
import { LiveRecords } from './live-records.ts';
import { commonNumbers, missingNumbers, NumberRuns, runsUpTo } from './number-runs.ts';
import type { OutboxOptions } from './outbox-options.ts';
import { RecentReports } from './recent-reports.ts';
import { segmentOctets } from './segment-octets.ts';
import { reportsAfter, type StoredReport } from './stored-reports.ts';

/** Maximum error of the end time of a call closed after a crash. */
export const heartbeatMs = 5_000;

/** Numbers left out at each start: more than the reports between two syncs. */
const skippedNumbers = 1_000_000;

/** Held reports written in one frame. */
const heldAtATime = 100;

/**
 * Durable storage of reports that control has not acknowledged: a journal, and in memory what of it was reported last.
 * When `append` returns, the report is in the kernel's memory, so a process killed afterwards loses nothing. When `sync`
 * resolves, it is on the device, and a loss of power takes nothing of it. The outbox also stores the latest record of
 * every live call, so that a restart can close the calls that died with the process.
 *
 * When the disk fails, no report is lost while the process lives:
 *
 *     writing --write fails--> holding --`settle`: all held reports are written--> writing
 *        \--sync fails--> holding --`settle`: a new segment repeats what no sync covered, and is synced--^
 *
 * In `holding`, reports wait in memory in order and get their number when they are written. Nothing is delivered before
 * it is written, so a number is never reused. Held reports are lost when the process is killed.
 */
export class Outbox {
  /** Identifies this outbox's sequence numbers; a new one starts a new numbering. */
  readonly id: string;
  /** What earlier processes left unfinished, or the disk damaged. */
  readonly damage: readonly Damage[];
  /** The newest file of earlier processes, if it is missing or too short. */
  readonly newestLost: Damage | null;
  /** Reports dropped because the outbox, or the memory for held reports, was full. */
  dropped = 0;
  /** Failed writes. */
  failures = 0;
  /** Reports that were not delivered and are not in the files any more: a file is missing, or damaged. */
  lost = 0;
  /** Files that were deleted or cut, as far as it is known. */
  filesLost = 0;
  readonly #journal: Journal;
  readonly #options: OutboxOptions;
  readonly #maxReports: number;
  readonly #held: HeldReports;
  readonly #numbers = new NumberRuns();
  /** Of reports that may be lost: control may have acknowledged them since the last frame. */
  #missing: NumberRuns;
  readonly #recent: RecentReports;
  readonly #shares: CallShares;
  readonly #live = new LiveRecords();
  #aliveAt: string | null = null;
  #fault: StorageFault | null = null;
  /** Highest number that was given, that is on the device, and that control has acknowledged. */
  #last = 0;
  #synced = 0;
  #acknowledged = 0;
  /** After a failed sync: `lost` until a new segment repeats what no sync covered, `repeated` until that is synced. */
  #repair: 'none' | 'lost' | 'repeated' = 'none';
  #syncing = false;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  /** @throws Error when the files cannot be read or written */
  constructor(files: SegmentFiles, options: OutboxOptions = {}) {
    this.#options = options;
    this.#maxReports = options.maxReports ?? 2_000_000;
    this.#held = new HeldReports(options.heldBytes);
    this.#recent = new RecentReports(options.heldBytes);
    this.#shares = new CallShares(options.heldBytes ?? defaultHeldBytes);
    this.#journal = new Journal(files);
    const heads: OutboxHead[] = [];
    const { damage, lost, noted } = this.#journal.load((frame) => this.#replay(frame, heads));
    this.damage = damage;
    this.newestLost = lost;
    this.filesLost = Number(lost !== null);
    const known = knownOutbox(heads, noted);
    this.id = known?.id ?? newId();
    this.#last = Math.max(this.#last, known?.last ?? 0);
    this.#missing = missingNumbers(known?.waiting ?? [], this.#numbers.runs, this.#acknowledged);
    this.#numbers.acknowledge(this.#acknowledged);
    // A loss of power takes back what was not synced, and control may have acknowledged it: it would ignore others with
    // the same numbers. So every start begins behind all that can have been given, and remembers that on disk.
    if (known) this.#last += skippedNumbers;
    this.#begin();
    this.#journal.syncNow();
    this.#synced = this.#last;
    this.#noteNewest();
    this.#forget();
  }

  /** @returns the highest number of a report in the frame, 0: it has none */
  #replay({ first, acknowledged, text }: Frame, heads: OutboxHead[]): number {
    let next = first;
    this.#acknowledged = Math.max(this.#acknowledged, acknowledged);
    for (const entry of entriesOf(text)) {
      if (entry.kind === 'outbox') {
        heads.push(entry);
        this.#last = Math.max(this.#last, entry.last);
        this.#aliveAt = entry.alive ?? this.#aliveAt;
        this.#live.clear();
      } else if (entry.kind === 'live') this.#live.keep(entry.id, entry.record);
      else if (entry.kind === 'alive') this.#aliveAt = entry.at;
      else {
        this.#live.follow(entry);
        // A report that was written once more after a failed sync may be there twice.
        if (next > this.#numbers.last) this.#numbers.add(next, 1);
        this.#last = Math.max(this.#last, next);
        next += 1;
      }
    }
    return next === first ? 0 : next - 1;
  }

  /** Reports not acknowledged by control. */
  get pending(): number {
    return this.#numbers.size + this.#held.size;
  }

  /** Why the last write failed; null: it succeeded. */
  get fault(): StorageFault | null {
    return this.#fault;
  }

  /** Reports held in memory for the disk. */
  get held(): { readonly reports: number; readonly bytes: number } {
    return { reports: this.#held.size, bytes: this.#held.bytes };
  }

  /** Whether so much waits in memory for the disk that new calls must be rejected. */
  get refuses(): boolean {
    return this.#held.refuses || this.#recent.refuses;
  }

  /**
   * Stores reports, all or none. When it returns they survive the death of the process, unless `fault` is set: then
   * they are held in memory.
   */
  append(at: string, ...bodies: readonly ReportBody[]): void {
    const reports: HeldReport[] = [];
    for (const body of bodies) {
      const hasRoom = body.type === 'call' || this.pending + reports.length < this.#maxReports;
      const used = this.#held.bytes + this.#recent.unsynced;
      const report = hasRoom ? this.#shares.admit(at, body, used) : null;
      if (report) reports.push(report);
      else this.dropped += 1;
    }
    this.#store(reports);
  }

  /** Takes over what another outbox has: its reports get numbers of this one. */
  adopt(reports: readonly HeldReport[], live: ReadonlyMap<string, string> = new Map()): void {
    for (const [id, record] of live) this.#live.keep(id, record);
    if (live.size > 0) this.#begin();
    this.#store(reports);
  }

  #store(reports: readonly HeldReport[]): void {
    if (this.#fault === null && this.#tries(() => this.#write(reports))) return;
    for (const report of reports) if (!this.#held.push(report)) this.dropped += 1;
  }

  /**
   * Writes held reports in order, as many as possible now.
   * @returns whether all are written
   */
  settle(): boolean {
    if (this.#fault === null) return true;
    if (this.#repair === 'lost' && !this.#syncing && this.#tries(() => this.#repeat())) {
      this.#repair = 'repeated';
      void this.sync();
    }
    if (this.#repair !== 'none') return false;
    // Proves that the disk takes something.
    if (!this.#tries(() => this.#note(aliveLine(this.#aliveAt)))) return false;
    while (this.#held.size > 0) {
      const reports = this.#held.first(heldAtATime);
      if (!this.#tries(() => this.#write(reports))) return false;
      this.#held.drop(reports.length);
    }
    this.#fault = null;
    this.#shares.clear();
    return true;
  }

  #write(reports: readonly HeldReport[]): void {
    if (reports.length === 0) return;
    if (this.#journal.size >= segmentOctets(this.#live.octets, this.#options.segmentBytes)) this.#begin();
    const first = this.#last + 1;
    this.#journal.append(first, reports.length, this.#acknowledged, reports.map(reportLine).join('\n'));
    this.#last += reports.length;
    this.#numbers.add(first, reports.length);
    for (const report of reports) this.#live.follow(report);
    this.#recent.add(first, reports, this.#synced);
  }

  #note(line: string): void {
    this.#journal.append(this.#last + 1, 0, this.#acknowledged, line);
  }

  #head(upTo = this.#last): string {
    const waiting = runsUpTo(upTo, [...this.#missing.runs, ...this.#numbers.runs]);
    return outboxLine(this.id, upTo, this.#aliveAt, waiting);
  }

  /** The next start then knows what was on the device, even if the newest file is lost. */
  #noteNewest(): void {
    this.#journal.note(this.#synced, this.#acknowledged, this.#head(this.#synced));
  }

  #begin(): void {
    const lines = [this.#head()];
    for (const [id, record] of this.#live.records) lines.push(liveLine(id, record));
    this.#journal.begin(this.#last, this.#acknowledged, lines.join('\n'));
  }

  /** After a failed sync the kernel may have dropped what it could not write, and syncs the rest without an error. */
  #repeat(): void {
    this.#journal.abandon();
    this.#begin();
    const reports = this.#recent.after(Math.max(this.#synced, this.#acknowledged));
    const [oldest] = reports;
    if (oldest)
      this.#journal.append(
        oldest.seq,
        reports.length,
        this.#acknowledged,
        reports.map(({ report }) => reportLine(report)).join('\n'),
      );
  }

  #isLost(): boolean {
    return this.#repair === 'lost';
  }

  /** Runs `work`, or records why the disk failed. @returns whether it succeeded */
  #tries(work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }

  #failed(error: unknown): void {
    const fault = storageFault(error);
    if (fault === null) throw error;
    this.#fault = fault;
    this.failures += 1;
  }

  /**
   * Resolves when all that was appended before the call is on the device, or `fault` says why not. One sync covers all
   * who wait for it.
   */
  sync(): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      this.#running = this.#syncOnce();
      return this.#running;
    });
    return this.#next;
  }

  async #syncOnce(): Promise<void> {
    if (this.#repair === 'lost') return;
    const upTo = this.#last;
    this.#syncing = true;
    try {
      await this.#journal.sync();
    } catch (error) {
      this.#failed(error);
      this.#repair = 'lost';
      return;
    } finally {
      this.#syncing = false;
    }
    // A file was lost meanwhile.
    if (this.#isLost()) return;
    this.#synced = upTo;
    this.#repair = 'none';
    this.#recent.trim(upTo);
    if (this.#fault === null) this.#shares.clear();
    this.#forget();
  }

  /** The next reports after `seq`, oldest first. */
  read(seq: number, limit: number): StoredReport[] {
    const after = Math.max(seq, this.#acknowledged);
    if (this.#recent.reaches(after, this.#last))
      return this.#recent
        .after(after, limit)
        .map(({ seq: number, report: { at, body } }) => ({ seq: number, at, body }));
    return reportsAfter(this.#journal, after, limit);
  }

  /** Highest number that control has acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** The latest records of the calls that are up. */
  get liveCalls(): CallRecord[] {
    return [...this.#live.records.values()].map((record) => JSON.parse(record) as CallRecord);
  }

  /** Counts what is missing as lost. Call it when control has said on a new link what it has. @returns how many reports */
  countLost(): number {
    const { size } = this.#missing;
    if (size === 0) return 0;
    this.#missing = new NumberRuns();
    this.lost += size;
    // The next start must not count them again.
    if (this.#repair !== 'lost') this.#tries(() => this.#begin());
    return size;
  }

  /** Control has stored everything up to `seq`. */
  acknowledge(seq: number): void {
    if (seq < this.#acknowledged) return;
    this.#acknowledged = seq;
    this.#numbers.acknowledge(seq);
    this.#missing.acknowledge(seq);
    this.#recent.acknowledge(seq);
    this.#forget();
  }

  #forget(): void {
    this.#journal.forget(this.#acknowledged, (error) => this.#failed(error));
  }

  /**
   * Records that the process is alive: `closeAbandonedCalls` uses it as the end time of abandoned calls. It also
   * detects a full disk while nothing is reported, and has delivered reports removed from the disk.
   * @returns names of files that were deleted or cut since the last one: what is in memory of them is written once more
   */
  heartbeat(at: string): string[] {
    this.#aliveAt = at;
    if (this.#repair === 'lost') return [];
    const gone: Gone[] = [];
    if (!this.#tries(() => gone.push(...this.#journal.dropGone()))) return [];
    if (gone.length > 0) {
      this.#doWithout(gone);
      return gone.map(({ file }) => file);
    }
    const delivered = this.#journal.last > 0 && this.#journal.last <= this.#acknowledged;
    if (this.#tries(() => (delivered ? this.#begin() : this.#note(aliveLine(at)))))
      this.#tries(() => this.#noteNewest());
    return [];
  }

  /** `settle` writes once more what is in memory; older reports are lost. */
  #doWithout(gone: readonly Gone[]): void {
    const [oldest] = this.#recent.after(this.#acknowledged, 1);
    const lost = gone.map(({ after, last }) => ({ first: after + 1, last }));
    const before = runsUpTo((oldest?.seq ?? this.#last + 1) - 1, this.#numbers.runs);
    this.lost += commonNumbers(before, lost, this.#acknowledged);
    this.filesLost += gone.length;
    this.#failed(Object.assign(new Error('a file of the outbox is gone'), { code: 'EIO' }));
    this.#synced = this.#acknowledged;
    this.#repair = 'lost';
  }

  /**
   * Reports the end of every call that was live when the last process died. Call once, before the first new call.
   * @returns how many calls were closed
   */
  closeAbandonedCalls(now: string): number {
    const bodies = this.liveCalls.map(
      (call): ReportBody => ({ type: 'call', call: abandoned(call, this.#aliveAt ?? now) }),
    );
    this.append(now, ...bodies);
    return bodies.length;
  }

  async close(): Promise<void> {
    await this.sync();
    this.#journal.close();
    this.#options.closed?.();
  }
}
