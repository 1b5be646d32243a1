/** What calls need from the rest of the edge. */
import type { Clock } from '#shared/clock.ts';
import type { NewId } from '#shared/ids.ts';
import type { LiveCall } from './live-call.ts';
import type { Log } from './log.ts';
import type { Agents } from './ports/agents.ts';
import type { Dialer } from './ports/dialing.ts';
import type { Media } from './ports/media.ts';
import type { Recordings } from './ports/recordings.ts';
import type { Reporter } from './ports/reporting.ts';
import type { HeadersOf, Routes } from './ports/routes.ts';
import type { TransferParts } from './transfer/transfer-plan.ts';

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
  /** The supervisors of calls. */
  readonly supervisions: { join(leg: LiveCall): void; callEnded(call: LiveCall): void };
  /** Called with the lines of a transcript that were left out because there were too many. */
  readonly linesLeftOut?: (count: number) => void;
  /** Absent: no call is recorded. */
  readonly recordings?: Recordings;
}

/** What outbound calls need besides. */
export interface OutboundParts {
  readonly routes: Routes;
  readonly dialer: Dialer;
  /** Time for one attempt without an answer before it is canceled, ms. */
  readonly ringTimeoutMs: number;
  /**
   * Resolves when what makes an agent speak is loaded; never rejects. Absent: nothing has to be. A peer that answers before
   * would speak to an agent that does not listen yet. Agents that bring their own sound do not wait for it.
   */
  readonly voiceLoaded?: () => Promise<void>;
  /** Whether a peer's REFER is followed; default: true. */
  readonly followRefer?: boolean;
  /** Applies header mappings to variables for the Refer-To of a REFER; absent: no headers. */
  readonly headersOf?: HeadersOf;
}
