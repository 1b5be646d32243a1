/** What legs need of the bridge that joins them (bridge.ts). */
import type { NegotiatedAudio } from './sdp/session.ts';

export interface LegBridge<Leg> {
  /** @throws CallRefused when the leg cannot change to `session` and stay joined */
  permit(leg: Leg, session: NegotiatedAudio): void;
  /** The leg has a new session, path or stream. Never rejects. */
  follow(): Promise<void>;
  /** Updates the counts of both legs that come from the worker. */
  look(leg: Leg): Promise<void>;
  close(): void;
}
