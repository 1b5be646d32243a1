/** How two legs can be joined. Pure. */
import type { SessionPayloads } from './payloads.ts';

export type BridgePlan =
  /** `lost`: what is not passed on, for the log. */
  | { readonly mode: 'relayed'; readonly lost: string | null }
  | { readonly mode: 'transcoded'; readonly because: string }
  | { readonly mode: 'refused'; readonly because: string };

export interface BridgeCircumstances {
  /** Both legs are on the same media worker. */
  readonly oneWorker: boolean;
  /** Legs with different codecs may be joined. */
  readonly transcode: boolean;
  /** One of them is recorded. */
  readonly recorded?: boolean;
  /** A supervisor hears one of them, or tells its party something. */
  readonly supervised?: boolean;
}

/**
 * Packets of one codec are relayed unchanged. Whatever a peer may send according to its `fmtp` (stereo Opus, a
 * higher rate), any decoder of the codec accepts, so `fmtp` is not compared.
 *
 * Two workers share no packets: a pipe between them would need ports and a second pass over UDP for each packet,
 * plus a turn of another thread. Legs to be bridged are created `beside` each other; for others this process
 * forwards the audio.
 *
 * The durations of key presses count in the clock of their format (RFC 4733 section 2.3), so they cannot be
 * relayed between two clocks.
 */
export function planBridge(
  one: SessionPayloads,
  other: SessionPayloads,
  { oneWorker, transcode, recorded = false, supervised = false }: BridgeCircumstances,
): BridgePlan {
  if (one.codec !== other.codec) {
    const because = `one leg has ${one.codec}, the other ${other.codec}`;
    if (transcode) return { mode: 'transcoded', because };
    return { mode: 'refused', because: `No common codec: ${because}, and transcoding is off` };
  }
  if (recorded) return { mode: 'transcoded', because: 'the call is recorded' };
  if (supervised) return { mode: 'transcoded', because: 'a supervisor is at the call' };
  if (!oneWorker) return { mode: 'transcoded', because: 'the legs are on two media workers' };
  if (!one.dtmf && !other.dtmf) return { mode: 'relayed', lost: null };
  if (!one.dtmf || !other.dtmf) return { mode: 'relayed', lost: 'one leg has no telephone-event' };
  if (one.dtmf.clockRate === other.dtmf.clockRate) return { mode: 'relayed', lost: null };
  const clocks = `telephone-event at ${one.dtmf.clockRate} Hz here and ${other.dtmf.clockRate} Hz there`;
  return transcode ? { mode: 'transcoded', because: clocks } : { mode: 'relayed', lost: clocks };
}
