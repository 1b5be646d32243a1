/** What one leg measures: reception over all its streams, the worker's counts, and the time of silence. */
import type { Clock } from '#shared/clock.ts';
import type { MediaReport } from '#shared/edge-protocol.ts';
import { Reception } from './quality/reception.ts';
import { type DroppedPackets, mediaReport } from './quality/report.ts';
import type { NegotiatedAudio } from './sdp/session.ts';
import type { PathStats } from './srtp-path.ts';

/** A talking leg is asked for its round trip so often, ms; receiver reports come every 5 s. */
const statsEveryMs = 5000;
/** Silence after which the worker is asked whether packets come that do not reach us, ms. */
const suspiciousSilenceMs = 400;
/** Packets between two looks at a silent leg that are a stream: 100 ms of audio. */
const streamPackets = 5;

export class LegQuality {
  readonly #clock: Clock;
  /** One per clock rate that the leg had; the last one counts now. */
  readonly #receptions: Reception[] = [];
  #clockRate = 0;
  #beganAt: number | null = null;
  #heardAt: number | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;
  #dropped: DroppedPackets = { fromElsewhere: 0, undecrypted: 0, unclaimed: 0 };
  #roundTripMs: number | null = null;
  #wasSilent = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Media was negotiated. */
  begin(): void {
    this.#beganAt ??= this.#clock.now();
  }

  heard(nowMs: number): void {
    this.#heardAt = nowMs;
  }

  silentForMs(): number {
    const since = this.#heardAt ?? this.#beganAt;
    return since === null ? 0 : this.#clock.now() - since;
  }

  /** The counter for streams of this RTP clock. */
  reception(clockRate: number): Reception {
    const last = this.#receptions.at(-1);
    if (last && clockRate === this.#clockRate) return last;
    this.#clockRate = clockRate;
    const fresh = new Reception(clockRate);
    this.#receptions.push(fresh);
    return fresh;
  }

  /** Whether the worker should be asked for its counts now. */
  statsDue(): boolean {
    const now = this.#clock.now();
    const silent = this.silentForMs() > suspiciousSilenceMs;
    if (!silent && now - this.#askedAt < statsEveryMs) return false;
    this.#askedAt = now;
    return true;
  }

  /**
   * Takes the worker's counts.
   * @returns `unknown stream` when packets of the peer keep coming that nobody takes after the known stream fell
   * silent: it has a new SSRC
   */
  takeStats(stats: PathStats): 'unknown stream' | 'nothing new' {
    const unclaimed = stats.dropped.unclaimed - this.#dropped.unclaimed;
    this.#dropped = stats.dropped;
    this.#roundTripMs = stats.roundTripMs ?? this.#roundTripMs;
    const silent = this.#heardAt !== null && this.silentForMs() > suspiciousSilenceMs;
    // Only a second look in a row counts what came during the silence and nothing before it.
    const unknown = silent && this.#wasSilent && unclaimed >= streamPackets;
    this.#wasSilent = silent && !unknown;
    return unknown ? 'unknown stream' : 'nothing new';
  }

  /** @param sent what the leg's exchange counts */
  report(
    session: NegotiatedAudio | null,
    sent: { readonly packetsSent: number; readonly packetsLate: number; readonly playoutDelayMs: number },
  ): MediaReport {
    return mediaReport({
      codec: session?.codec ?? null,
      packetsSent: sent.packetsSent,
      packetsLate: sent.packetsLate,
      playoutDelayMs: sent.playoutDelayMs,
      reception: this.#reception(),
      roundTripMs: this.#roundTripMs,
      peerAddress: session?.remote.address ?? null,
      dropped: this.#dropped,
      peerMkiLength: session?.remoteMkiLength ?? 0,
      direction: session?.direction ?? 'inactive',
      held: session?.held ?? false,
    });
  }

  #reception() {
    const [first, ...more] = this.#receptions;
    if (!first || more.length === 0) return first ?? null;
    const sum = (field: 'received' | 'lost' | 'expected') =>
      this.#receptions.reduce((total, reception) => total + reception[field], 0);
    return {
      received: sum('received'),
      lost: sum('lost'),
      expected: sum('expected'),
      jitterMs: this.#receptions.at(-1)?.jitterMs ?? null,
    };
  }
}
