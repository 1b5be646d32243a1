import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { newId } from '#shared/ids.ts';
import { type StorageFault, storageFault } from '#shared/storage-fault.ts';
import { abandoned } from './call-records.ts';
import { CallShares } from './call-shares.ts';
import { defaultHeldBytes, type HeldReport, HeldReports } from './held-reports.ts';
import { aliveLine, entriesOf, liveLine, type OutboxHead, outboxLine, reportLine } from './journal/entry.ts';
import type { Frame } from './journal/frame.ts';
import { type Damage, Journal } from './journal/journal.ts';
import type { SegmentFiles } from './journal/segment-files.ts';
import { missingNumbers, NumberRuns } from './number-runs.ts';
import { RecentReports } from './recent-reports.ts';
import { segmentOctets } from './segment-octets.ts';

/** A stored report with its body as JSON text, which is sent without being parsed again. */
export interface StoredReport {
  readonly seq: number;
  readonly at: string;
  readonly body: string;
}

export interface OutboxOptions {
  /** Maximum number of reports. Above it traces and transcripts are dropped; call records are always accepted. */
  readonly maxReports?: number;
  /** Maximum octets of reports held in memory while the disk fails. */
  readonly heldBytes?: number;
  /** Octets after which the next segment of the journal begins. */
  readonly segmentBytes?: number;
  /** The outbox has closed its files. */
  readonly closed?: () => void;
}

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
  /** Reports dropped because the outbox, or the memory for held reports, was full. */
  dropped = 0;
  /** Failed writes. */
  failures = 0;
  /** Reports that were not delivered and are not in the files any more: a file is missing, or damaged. */
  lost = 0;
  readonly #journal: Journal;
  readonly #options: OutboxOptions;
  readonly #maxReports: number;
  readonly #held: HeldReports;
  readonly #numbers = new NumberRuns();
  /** Of reports that may be lost: control may have acknowledged them since the last frame. */
  #missing: NumberRuns;
  readonly #recent: RecentReports;
  readonly #shares: CallShares;
  /** The latest record of each live call, JSON text. */
  readonly #live = new Map<string, string>();
  #liveOctets = 0;
  #aliveAt: string | null = null;
  #fault: StorageFault | null = null;
  /** Highest number that was given, that is on the device, and that control has acknowledged. */
  #last = 0;
  #synced = 0;
  #acknowledged = 0;
  /** After a failed sync: `lost` until a new segment repeats what no sync covered, `repeated` until that is synced. */
  #repair: 'none' | 'lost' | 'repeated' = 'none';
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
    this.damage = this.#journal.load((frame) => this.#replay(frame, heads));
    const last = heads.at(-1);
    this.id = last?.id ?? newId();
    this.#missing = missingNumbers(last?.waiting ?? [], this.#numbers.runs, this.#acknowledged);
    this.#numbers.acknowledge(this.#acknowledged);
    // A loss of power takes back what was not synced, and control may have acknowledged it: it would ignore others with
    // the same numbers. So every start begins behind all that can have been given, and remembers that on disk.
    if (heads.length > 0) this.#last += skippedNumbers;
    this.#begin();
    this.#journal.syncNow();
    this.#synced = this.#last;
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
        this.#liveOctets = 0;
      } else if (entry.kind === 'live') this.#keep(entry.id, entry.record);
      else if (entry.kind === 'alive') this.#aliveAt = entry.at;
      else {
        this.#follow(entry);
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
    for (const [id, record] of live) this.#keep(id, record);
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
    if (this.#repair === 'lost' && this.#tries(() => this.#repeat())) {
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
    if (this.#journal.size >= segmentOctets(this.#liveOctets, this.#options.segmentBytes)) this.#begin();
    const first = this.#last + 1;
    this.#journal.append(first, reports.length, this.#acknowledged, reports.map(reportLine).join('\n'));
    this.#last += reports.length;
    this.#numbers.add(first, reports.length);
    for (const report of reports) this.#follow(report);
    this.#recent.add(first, reports, this.#synced);
  }

  #note(line: string): void {
    this.#journal.append(this.#last + 1, 0, this.#acknowledged, line);
  }

  #begin(): void {
    const waiting = [...this.#missing.runs, ...this.#numbers.runs];
    const lines = [outboxLine(this.id, this.#last, this.#aliveAt, waiting)];
    for (const [id, record] of this.#live) lines.push(liveLine(id, record));
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

  /** Follows the live calls. */
  #follow({ call }: HeldReport): void {
    if (call?.ended) this.#drop(call.id);
    else if (call) this.#keep(call.id, call.record);
  }

  #keep(id: string, record: string): void {
    this.#drop(id);
    this.#live.set(id, record);
    this.#liveOctets += record.length;
  }

  #drop(id: string): void {
    this.#liveOctets -= this.#live.get(id)?.length ?? 0;
    this.#live.delete(id);
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
    try {
      await this.#journal.sync();
    } catch (error) {
      this.#failed(error);
      this.#repair = 'lost';
      return;
    }
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
    return this.#readFiles(after, limit);
  }

  #readFiles(after: number, limit: number): StoredReport[] {
    const found: StoredReport[] = [];
    let last = after;
    for (const { first, text } of this.#journal.framesAfter(after)) {
      const reports = entriesOf(text).filter((entry) => entry.kind === 'report');
      for (const [index, { at, body }] of reports.entries()) {
        if (first + index <= last) continue;
        if (found.length === limit) return found;
        last = first + index;
        found.push({ seq: last, at, body });
      }
    }
    return found;
  }

  /** Highest number that control has acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** The latest records of the calls that are up. */
  get liveCalls(): CallRecord[] {
    return [...this.#live.values()].map((record) => JSON.parse(record) as CallRecord);
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
   */
  heartbeat(at: string): void {
    this.#aliveAt = at;
    if (this.#repair === 'lost') return;
    const delivered = this.#journal.last > 0 && this.#journal.last <= this.#acknowledged;
    this.#tries(() => (delivered ? this.#begin() : this.#note(aliveLine(at))));
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
