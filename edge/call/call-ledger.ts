/** Reports one live call: its full record at each change, and its transcript lines. */
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type {
  CallRecord,
  ConferenceEvent,
  ConferenceState,
  MediaReport,
  TranscriptEntry,
} from '#shared/edge-protocol/calls.ts';
import type { FailoverAttempt } from '#shared/trunk-protocol.ts';
import type { CallDeps } from './call-deps.ts';
import { LineBudget, leftOutSentence } from './line-budget.ts';
import type { LiveCall } from './live-call.ts';
import { callFacts, callRecord, mappableVariables } from './record.ts';

type LedgerDeps = Pick<CallDeps, 'clock' | 'reporter' | 'newId' | 'linesLeftOut'>;

export class CallLedger {
  ringing = false;
  queued = false;
  /** Failed attempts; null for inbound calls. */
  attempts: readonly FailoverAttempt[] | null = null;
  /** What the agent has extracted so far. */
  extracted: CallVariables = {};
  /** Variables from the headers of the peer's BYE. */
  #fromBye: CallVariables = {};
  readonly #call: LiveCall;
  readonly #deps: LedgerDeps;
  readonly #startedAt: number;
  /** On the clock's elapsed time. */
  readonly #began: number;
  #answeredBy: NonNullable<CallRecord['answered_by']> | null = null;
  #answeredAt: number | null = null;
  /** Target that the peer was transferred to. */
  #transferredTo: string | null = null;
  #conference: ConferenceState | null = null;
  #event: ConferenceEvent | null = null;
  #endedAt: number | null = null;
  #media: MediaReport | null = null;
  readonly #lines: LineBudget;
  #saysLeftOut = false;

  constructor(call: LiveCall, deps: LedgerDeps) {
    this.#call = call;
    this.#deps = deps;
    this.#startedAt = deps.clock.now();
    this.#began = deps.clock.elapsed();
    this.#lines = new LineBudget(deps.clock);
  }

  get answered(): boolean {
    return this.#answeredAt !== null;
  }

  /** ms since the epoch; the end is now while the call is not closed. */
  get times(): { readonly startedAt: number; readonly endedAt: number } {
    return { startedAt: this.#startedAt, endedAt: this.#endedAt ?? this.#now() };
  }

  get closed(): boolean {
    return this.#endedAt !== null;
  }

  /** @returns the answer time, ms since the epoch */
  answer(): number {
    this.#answeredAt = this.#now();
    return this.#answeredAt;
  }

  /** Reports the closed record; nothing is reported after it. @param media null: none was set up, or it is lost */
  close(media: MediaReport | null): void {
    this.#endedAt = this.#now();
    this.#media = media;
    this.report();
  }

  /** Start time plus elapsed time: setting the host's clock does not change the duration of a call. */
  #now(): number {
    return this.#startedAt + Math.round(this.#deps.clock.elapsed() - this.#began);
  }

  /** Whole ms from the call's start until then, at least 0. @param at on the clock's elapsed time */
  msSinceStart(at: number): number {
    return Math.max(0, Math.round(at - this.#began));
  }

  /** Replaces what the agent has extracted. */
  extract(values: CallVariables): void {
    if (!this.closed) this.extracted = values;
  }

  /** Variables from the headers of the peer's BYE, which override those of the INVITE. */
  heardInBye(variables: CallVariables): void {
    if (!this.closed) this.#fromBye = variables;
  }

  /** The peer was transferred to `target`. */
  handedOver(target: string): void {
    this.#transferredTo = target;
    if (!this.closed) this.report();
  }

  /**
   * The conference that the call is in; null: it has left, which the closed record says when the call ends.
   * @param event goes into one report
   */
  inConference(state: ConferenceState | null, event: ConferenceEvent | null = null): void {
    this.#conference = state;
    this.#event = event;
    if (!this.closed && !this.#call.termination) this.report();
  }

  /** Variables of the call. Header variables override request_data; variables the agent extracted override both. */
  get variables(): CallVariables {
    const { id, facts, plan } = this.#call;
    return { ...callFacts(id, facts, plan).variables, ...this.extracted };
  }

  /** Variables that header mappings may use. */
  mappable(): CallVariables {
    const { id, facts, plan } = this.#call;
    return { ...this.extracted, ...mappableVariables(id, facts, plan, this.#deps.clock.now()) };
  }

  answeredBy(who: NonNullable<CallRecord['answered_by']>): void {
    if (this.closed || this.#answeredBy === who) return;
    this.#answeredBy = who;
    this.report();
  }

  report(): void {
    const { id, facts, plan, media, termination } = this.#call;
    const endedAt = this.#endedAt;
    const heard = { ...plan, variables: { ...plan.variables, ...this.#fromBye } };
    const call = callRecord(id, facts, heard, {
      startedAt: this.#startedAt,
      queued: this.queued,
      ringing: this.ringing,
      answeredAt: this.#answeredAt,
      end: endedAt === null || !termination ? null : { at: endedAt, termination },
      codec: media?.codec ?? null,
      media: this.#media,
      extracted: this.extracted,
      attempts: this.attempts,
      transferredTo: this.#transferredTo,
      conference: this.#conference,
      conferenceEvent: this.#event,
      answeredBy: this.#answeredBy,
    });
    this.#event = null;
    this.#call.attempt('report', () => this.#deps.reporter.report({ type: 'call', call }));
  }

  /** All of them are one report. */
  transcript(...entries: TranscriptEntry[]): void {
    if (this.closed) return;
    const kept = entries.flatMap((entry) => this.#lines.take(entry) ?? []);
    this.#reportLines(kept);
    this.linesLeftOut(entries.length - kept.length);
  }

  /** So many lines are left out; the transcript says so once. */
  linesLeftOut(count: number): void {
    if (this.closed || count === 0) return;
    this.#deps.linesLeftOut?.(count);
    if (!this.#saysLeftOut)
      this.#reportLines([{ ...this.#line(leftOutSentence), fact: { kind: 'lines_left_out' } }]);
    this.#saysLeftOut = true;
  }

  /** A transcript line about the call itself. */
  note(text: string): void {
    this.transcript(this.#line(text));
  }

  #line(text: string): TranscriptEntry {
    const { clock, newId } = this.#deps;
    const at = new Date(clock.now()).toISOString();
    return { id: newId(), at, user: 'agent-action', text, node_id: null, node_name: null };
  }

  #reportLines(entries: TranscriptEntry[]): void {
    if (entries.length === 0) return;
    const report = { type: 'transcript' as const, call_id: this.#call.id, entries };
    this.#call.attempt('report a transcript', () => this.#deps.reporter.report(report));
  }
}
