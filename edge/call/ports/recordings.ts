/** What calls need to be recorded: whom, for which key, and what is said about it (edge/start/recordings.ts). */
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { RecordingFault } from '#shared/recording/format.ts';
import type { RecordingOrder } from './media.ts';

export interface Recordings {
  /**
   * The order to record a call; null: it is not to be recorded. Never rejects, and takes a few seconds at most, for an
   * announcement that is spoken.
   */
  order(call: RecordedCall): Promise<Omit<RecordingOrder, 'stopped' | 'paused'>> | null;
  /** Counts how a recording went on: it began, or stopped before its call. */
  count(what: 'begun' | 'failed' | RecordingFault): void;
}

export interface RecordedCall {
  readonly callId: string;
  readonly orgId: string;
  readonly agent: AgentSettings | null;
}
