/** Reports one live call: its full record at each change, and its transcript lines. */
import type { Clock } from '#shared/clock.ts';
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { CallRecord, TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { NewId } from '#shared/ids.ts';
import type { FailoverAttempt } from '#shared/trunk-protocol.ts';
import type { CallPlan } from './call-plan.ts';
import type { Termination } from './ending.ts';
import type { MediaLeg } from './ports/media.ts';
import type { Reporter } from './ports/reporting.ts';
import type { LegFacts } from './ports/signaling.ts';
import { callRecord } from './record.ts';

interface LedgerDeps {
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly newId: NewId;
}

/** The call, as far as its record needs it. */
interface Told {
  readonly facts: LegFacts;
  readonly plan: CallPlan;
  readonly media: MediaLeg | null;
  readonly termination: Termination | null;
  /** Runs `work`; a failed report does not end the call. */
  attempt(what: string, work: () => void): void;
}

export class CallLedger {
  ringing = false;
  queued = false;
  /** Failed attempts; null for inbound calls. */
  attempts: readonly FailoverAttempt[] | null = null;
  /** Target that the peer was transferred to. */
  transferredTo: string | null = null;
  /** What the agent has extracted so far. */
  extracted: CallVariables = {};
  readonly #id: string;
  readonly #call: Told;
  readonly #deps: LedgerDeps;
  readonly #startedAt: number;
  /** On the clock's elapsed time. */
  readonly #began: number;
  #answeredBy: NonNullable<CallRecord['answered_by']> | null = null;
  #answeredAt: number | null = null;
  #endedAt: number | null = null;

  constructor(id: string, call: Told, deps: LedgerDeps) {
    this.#id = id;
    this.#call = call;
    this.#deps = deps;
    this.#startedAt = deps.clock.now();
    this.#began = deps.clock.elapsed();
  }

  get answered(): boolean {
    return this.#answeredAt !== null;
  }

  get closed(): boolean {
    return this.#endedAt !== null;
  }

  /** @returns the answer time, ms since the epoch */
  answer(): number {
    this.#answeredAt = this.#now();
    return this.#answeredAt;
  }

  /** Reports the closed record; nothing is reported after it. */
  close(): void {
    this.#endedAt = this.#now();
    this.report();
  }

  /** Start time plus elapsed time: setting the host's clock does not change the duration of a call. */
  #now(): number {
    return this.#startedAt + Math.round(this.#deps.clock.elapsed() - this.#began);
  }

  answeredBy(who: NonNullable<CallRecord['answered_by']>): void {
    if (this.closed || this.#answeredBy === who) return;
    this.#answeredBy = who;
    this.report();
  }

  report(): void {
    const { facts, plan, media, termination } = this.#call;
    const endedAt = this.#endedAt;
    const call = callRecord(this.#id, facts, plan, {
      startedAt: this.#startedAt,
      queued: this.queued,
      ringing: this.ringing,
      answeredAt: this.#answeredAt,
      end: endedAt === null || !termination ? null : { at: endedAt, termination },
      codec: media?.codec ?? null,
      // Contract 3.4: null when no media was set up.
      media: endedAt !== null && media?.codec ? media.report() : null,
      extracted: this.extracted,
      attempts: this.attempts,
      transferredTo: this.transferredTo,
      answeredBy: this.#answeredBy,
    });
    this.#call.attempt('report', () => this.#deps.reporter.report({ type: 'call', call }));
  }

  transcript(entry: TranscriptEntry): void {
    if (this.closed) return;
    const report = { type: 'transcript' as const, call_id: this.#id, entries: [entry] };
    this.#call.attempt('report a transcript', () => this.#deps.reporter.report(report));
  }

  /** A transcript line about the call itself. */
  note(text: string): void {
    const { clock, newId } = this.#deps;
    this.transcript({
      id: newId(),
      at: new Date(clock.now()).toISOString(),
      user: 'agent-action',
      text,
      node_id: null,
      node_name: null,
    });
  }
}
