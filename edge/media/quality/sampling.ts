/** Samples of one leg's quality: what has changed since the one before, and how things are now. */
import type { Clock } from '#shared/clock.ts';
import type { CodecName } from '#shared/codecs.ts';
import type { PeerHears } from '#shared/edge-protocol/calls.ts';
import type { LegSample } from '../../call/ports/media.ts';
import { receivedOpinion, sentOpinion } from './opinion.ts';

/** Interval of samples, ms. */
const sampleEveryMs = 5000;
/** Legs are looked at every half second; a look that is this much early counts. */
const earlyMs = 100;

/** What was measured on a leg since its start, and how things are. */
export interface LegState {
  readonly codec: CodecName | null;
  readonly held: boolean;
  /** Whether packets bypass this process. */
  readonly relayed: boolean;
  readonly received: number;
  readonly lost: number;
  readonly late: number;
  readonly sent: number;
  readonly jitterMs: number | null;
  readonly playoutDelayMs: number;
  readonly roundTripMs: number | null;
  readonly peerHears: PeerHears;
  /** By the peer's last report, 0..1. */
  readonly peerLoss: number | null;
}

/** Of the audio that passed through this process since the last sample; null: none did. */
export interface Meters {
  readonly levelReceived: number | null;
  readonly levelSent: number | null;
  /** The most that a turn of the leg was late, ms. */
  readonly clockLateMs: number | null;
}

type Counts = Record<'received' | 'lost' | 'late' | 'sent', number>;

export class Sampling {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #sampled: (sample: LegSample) => void;
  /** What the samples so far contain, and when the last one ended. */
  readonly #told: Counts = { received: 0, lost: 0, late: 0, sent: 0 };
  #at: number;

  constructor(clock: Pick<Clock, 'elapsed'>, sampled: (sample: LegSample) => void) {
    this.#clock = clock;
    this.#sampled = sampled;
    this.#at = clock.elapsed();
  }

  get due(): boolean {
    return this.#clock.elapsed() - this.#at >= sampleEveryMs - earlyMs;
  }

  take(state: LegState, meters: Meters): void {
    const at = this.#clock.elapsed();
    const { codec, relayed, held, roundTripMs, peerHears, peerLoss, jitterMs } = state;
    const received = this.#fresh('received', state);
    const lost = this.#fresh('lost', state);
    const late = this.#fresh('late', state);
    const sent = this.#fresh('sent', state);
    const playoutDelayMs = relayed ? 0 : state.playoutDelayMs;
    const lossSent = peerLoss === null ? null : Math.round(peerLoss * 100);
    const heard = { codec, received, lost, late, expected: received + lost, roundTripMs, playoutDelayMs };
    const told = { codec, packetsSent: sent, peerHears, lossSent, peerLoss, roundTripMs };
    this.#sampled({
      at,
      durationMs: at - this.#at,
      held,
      relayed,
      received,
      lost,
      late: meters.clockLateMs === null ? null : late,
      jitterMs: received > 0 ? jitterMs : null,
      bufferMs: relayed || meters.levelReceived === null ? null : playoutDelayMs,
      levelReceived: meters.levelReceived,
      sent,
      peerLossPercent: peerLoss === null ? null : peerLoss * 100,
      levelSent: meters.levelSent,
      roundTripMs,
      mosReceived: receivedOpinion(heard),
      mosSent: sentOpinion(told),
      clockLateMs: meters.clockLateMs,
    });
    this.#at = at;
  }

  /** A packet that is late may lower a count; the sum of the samples never falls. */
  #fresh(count: keyof Counts, state: LegState): number {
    const fresh = Math.max(0, state[count] - this.#told[count]);
    this.#told[count] += fresh;
    return fresh;
  }
}
