/** What calls in both directions need, and the interface used to count and end them. */
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
  /** 180 is sent when the answer takes longer than this, ms. */
  readonly ringAfterMs: number;
  /** Time an agent may take to get ready before the call is answered 480, ms. */
  readonly prepareTimeoutMs: number;
  /** Time without RTP from a peer that is not on hold before the call ends, ms; 0: no limit. */
  readonly mediaTimeoutMs: number;
  /** Silence of a peer on hold before it is probed, ms; default: a minute. */
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
  /** null: transfers are disabled. */
  readonly transfers: TransferParts | null;
}

/** A call in either direction, for code that only counts and ends calls. */
export interface LiveCall {
  readonly id: string;
  readonly state: string;
  readonly answered: boolean;
  /** Why the call ended; null while it is live. */
  readonly termination: TerminationCode | null;
  readonly direction: LegFacts['direction'];
  readonly transfers: Transfers;
  /** Ends the call in any state. The first reason wins. */
  end(termination: Termination): void;
}

/** Value of the Retry-After header in a 503, seconds. */
export const retryAfterS = 10;
