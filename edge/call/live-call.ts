/** What a call of either direction needs, and how those see it that only count and end calls. */
import type { Clock } from '#shared/clock.ts';
import type { NewId } from '#shared/ids.ts';
import type { TerminationCode } from '#shared/termination.ts';
import type { Termination } from './ending.ts';
import type { Log } from './log.ts';
import type { Agents } from './ports/agents.ts';
import type { Media } from './ports/media.ts';
import type { Reporter } from './ports/reporting.ts';
import type { LegFacts } from './ports/signaling.ts';
import type { TransferParts } from './transfer/transfer-plan.ts';
import type { Transfers } from './transfer/transfers.ts';

interface CallSettings {
  /** 180 goes out when the answer takes longer than this, in ms. */
  readonly ringAfterMs: number;
  /** How long an agent may take to get ready before the call is answered 480, in ms. */
  readonly prepareTimeoutMs: number;
  /** How long the peer may send no RTP while it is not on hold, in ms; 0: for ever. */
  readonly mediaTimeoutMs: number;
  /** How long a peer on hold may be silent until it is asked whether it is there, in ms; a minute unless given. */
  readonly holdQuestionMs?: number;
}

export interface CallDeps {
  readonly clock: Clock;
  readonly media: Media;
  readonly agents: Agents;
  readonly reporter: Reporter;
  readonly log: Log;
  readonly settings: CallSettings;
  readonly newId: NewId;
  /** null: no call is transferred. */
  readonly transfers: TransferParts | null;
}

/** A call of either direction, as those see it that only count and end calls. */
export interface LiveCall {
  readonly id: string;
  readonly state: string;
  readonly answered: boolean;
  /** Why the call ended, null while it goes on. */
  readonly termination: TerminationCode | null;
  readonly direction: LegFacts['direction'];
  readonly transfers: Transfers;
  /** Ends the call in whatever state it is. The first reason given stands. */
  end(termination: Termination): void;
}

/** Seconds of the Retry-After header in a 503. */
export const retryAfterS = 10;
