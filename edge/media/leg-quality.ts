/** Measurements of one leg: reception over all its streams, the worker's counts, and the duration of silence. */
import type { Clock } from '#shared/clock.ts';
import type { MediaReport } from '#shared/edge-protocol/calls.ts';
import type { DroppedPackets } from '../call/media-verdict.ts';
import type { LegSample } from '../call/ports/media.ts';
import { PeerHearing } from './quality/peer-hearing.ts';
import { PeerSending } from './quality/peer-sending.ts';
import { Reception } from './quality/reception.ts';
import { mediaReport, packetsLost } from './quality/report.ts';
import { type Meters, Sampling } from './quality/sampling.ts';
import type { RelayLook } from './relay.ts';
import { describedAddress, type NegotiatedAudio } from './sdp/session.ts';
import type { PathStats } from './srtp-path.ts';

/** Interval for querying the round trip of a talking leg, ms; receiver reports arrive every 5 s. */
const statsEveryMs = 5000;
/** Silence after which the worker is asked whether packets arrive that do not reach us, ms. */
const suspiciousSilenceMs = 400;
/** Packets between two queries of a silent leg that make a stream: 100 ms of audio. */
const streamPackets = 5;
/**
 * Packets from another source, while the known one is silent, after which the peer's stream has moved: 1 s of
 * audio.
 */
const movedPackets = 50;
/** Interval and duration of queries for the first report about us, ms: it comes after half of the time between two. */
const firstReportEveryMs = 2500;
const firstReportWithinMs = 30_000;

/** What a leg's exchange has counted. */
interface Exchanged {
  readonly packetsSent: number;
  readonly packetsLate: number;
  readonly playoutDelayMs: number;
}

export class LegQuality {
  readonly #clock: Clock;
  readonly #sampled: ((sample: LegSample) => void) | null;
  readonly #traffic: { packetsBeyondRate: number };
  /** Null before media was negotiated, and when nobody wants samples. */
  #sampling: Sampling | null = null;
  /** One per clock rate that the leg had; the last one is current. */
  readonly #receptions: Reception[] = [];
  #clockRate = 0;
  #beganAt: number | null = null;
  #heardAt: number | null = null;
  /** When RTCP of the peer was last seen. It shows that a listener without audio is still there. */
  #signedAt: number | null = null;
  #rtcpPackets = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #dropped: DroppedPackets = { fromElsewhere: 0, undecrypted: 0, unclaimed: 0 };
  #beyondRate = 0;
  #roundTripMs: number | null = null;
  #peerLoss: number | null = null;
  #wasSilent = false;
  readonly #hearing = new PeerHearing();
  readonly #sending = new PeerSending();
  #heardSinceLook = false;
  /** From other sources: total, since the known source went silent, and the address of the last one. */
  #fromElsewhere = 0;
  #elsewhereInSilence = 0;
  #lastElsewhere: string | null = null;
  /** Packets that bypassed this process, from and to the other leg of a bridge. */
  readonly #relayed = { received: 0, lost: 0, sent: 0 };
  /** Of the relayed stream; null when the last packets went through this process. */
  #relayedJitterMs: number | null = null;

  /**
   * @param sampled null: nobody wants samples
   * @param traffic of all legs
   */
  constructor(
    clock: Clock,
    sampled: ((sample: LegSample) => void) | null = null,
    traffic = { packetsBeyondRate: 0 },
  ) {
    this.#clock = clock;
    this.#sampled = sampled;
    this.#traffic = traffic;
  }

  /** Media has been negotiated. */
  begin(): void {
    this.#beganAt ??= this.#clock.now();
    if (this.#sampled) this.#sampling ??= new Sampling(this.#clock, this.#sampled);
  }

  heard(nowMs: number): void {
    this.#heardAt = nowMs;
    this.#heardSinceLook = true;
    this.#elsewhereInSilence = 0;
    this.#sending.heard();
  }

  /** Packets sent bypassing this process. */
  get relayedSent(): number {
    return this.#relayed.sent;
  }

  /** Adds the worker's counts of the packets relayed from this leg. */
  relayedFrom(look: RelayLook): void {
    if (look.received > 0) this.heard(this.#clock.now());
    this.#relayed.received += look.received;
    this.#relayed.lost += look.lost;
    this.#relayedJitterMs = look.jitterMs;
  }

  /** Adds the worker's counts of the packets relayed to this leg. */
  relayedTo(look: RelayLook): void {
    this.#relayed.sent += look.sent;
    this.#roundTripMs = look.roundTripMs ?? this.#roundTripMs;
    this.#peerLoss = look.peerLoss ?? this.#peerLoss;
  }

  /** Milliseconds since the last RTP or RTCP; 0 before media was negotiated. */
  silentForMs(): number {
    const since = Math.max(this.#heardAt ?? 0, this.#signedAt ?? 0) || this.#beganAt;
    return since === null ? 0 : this.#clock.now() - since;
  }

  /** The same for audio only. */
  #inaudibleForMs(): number {
    const since = this.#heardAt ?? this.#beganAt;
    return since === null ? 0 : this.#clock.now() - since;
  }

  /** Packets enter this process again. */
  relayEnded(): void {
    this.#relayedJitterMs = null;
  }

  /** The counter for streams with this RTP clock. */
  reception(clockRate: number): Reception {
    const last = this.#receptions.at(-1);
    if (last && clockRate === this.#clockRate) return last;
    this.#clockRate = clockRate;
    const fresh = new Reception(clockRate);
    this.#receptions.push(fresh);
    return fresh;
  }

  /** Whether to query the worker's counts now. */
  statsDue(): boolean {
    const now = this.#clock.now();
    const silent = this.#inaudibleForMs() > suspiciousSilenceMs;
    const young = this.#beganAt !== null && now - this.#beganAt < firstReportWithinMs;
    const everyMs = young && this.#hearing.hears === 'unknown' ? firstReportEveryMs : statsEveryMs;
    if (!silent && now - this.#askedAt < everyMs) return false;
    this.#askedAt = now;
    return true;
  }

  /**
   * Processes the worker's counts.
   * @param sent total packets sent to the peer
   * @returns `unknown stream` when unclaimed packets from the peer keep arriving after the known stream went
   * silent: it has a new SSRC
   */
  takeStats(stats: PathStats, sent: number): 'unknown stream' | 'nothing new' {
    const unclaimed = stats.dropped.unclaimed - this.#dropped.unclaimed;
    this.#countElsewhere(stats);
    this.#traffic.packetsBeyondRate += since(stats.beyondRate, this.#beyondRate);
    this.#beyondRate = stats.beyondRate;
    this.#dropped = stats.dropped;
    const { reports, reportsAboutUs: aboutUs, unheard, peerLoss, sentByPeer, arrivedOfThem } = stats;
    const loss = peerLoss ?? this.#peerLoss;
    this.#hearing.look({ nowMs: this.#clock.now(), sent, reports, aboutUs, unheard, loss });
    this.#sending.look({ sentByPeer, arrivedOfThem, heard: this.#heardSinceLook });
    this.#heardSinceLook = false;
    this.#roundTripMs = stats.roundTripMs ?? this.#roundTripMs;
    this.#peerLoss = stats.peerLoss ?? this.#peerLoss;
    // The count restarts with each path.
    if (stats.rtcpPackets > 0 && stats.rtcpPackets !== this.#rtcpPackets) this.#signedAt = this.#clock.now();
    this.#rtcpPackets = stats.rtcpPackets;
    const silent = this.#heardAt !== null && this.#inaudibleForMs() > suspiciousSilenceMs;
    // Only the second of two consecutive queries counts nothing from before the silence.
    const unknown = silent && this.#wasSilent && unclaimed >= streamPackets;
    this.#wasSilent = silent && !unknown;
    return unknown ? 'unknown stream' : 'nothing new';
  }

  #countElsewhere({ dropped, lastElsewhere }: PathStats): void {
    const fresh = since(dropped.fromElsewhere, this.#dropped.fromElsewhere);
    this.#fromElsewhere += fresh;
    if (this.#inaudibleForMs() <= suspiciousSilenceMs) return;
    this.#elsewhereInSilence += fresh;
    this.#lastElsewhere = lastElsewhere;
  }

  /**
   * Takes a sample, if it is time for one.
   * @param relayed whether packets bypass this process
   * @param isLast whether the leg is about to end: then it is always time
   */
  sample(
    session: NegotiatedAudio | null,
    sent: Exchanged & { takeMeters(): Meters },
    relayed: boolean,
    isLast = false,
  ): void {
    const sampling = this.#sampling;
    if (!sampling || !(isLast || sampling.due)) return;
    const reception = this.#reception();
    const state = {
      codec: session?.codec ?? null,
      held: session !== null && (session.held || session.direction !== 'sendrecv'),
      relayed,
      received: reception?.received ?? 0,
      lost: packetsLost({ reception, lostByReports: this.#sending.lost }),
      late: sent.packetsLate,
      sent: sent.packetsSent + this.#relayed.sent,
      jitterMs: reception?.jitterMs ?? null,
      playoutDelayMs: sent.playoutDelayMs,
      roundTripMs: this.#roundTripMs,
      peerHears: this.#hearing.hears,
      peerLoss: this.#peerLoss,
    };
    sampling.take(state, sent.takeMeters());
  }

  /**
   * @param sent from the leg's exchange
   * @param ourAddress in SDP
   */
  report(session: NegotiatedAudio | null, sent: Exchanged, ourAddress: string): MediaReport {
    const moved = this.#heardAt !== null && this.#elsewhereInSilence >= movedPackets;
    return mediaReport({
      codec: session?.codec ?? null,
      packetsSent: sent.packetsSent + this.#relayed.sent,
      packetsLate: sent.packetsLate,
      playoutDelayMs: sent.playoutDelayMs,
      reception: this.#reception(),
      roundTripMs: this.#roundTripMs,
      peerHears: this.#hearing.hears,
      unheard: this.#hearing.unheard,
      lostByReports: this.#sending.lost,
      lostInSilence: this.#sending.lostInSilence,
      peerLoss: this.#peerLoss,
      meanPeerLoss: this.#hearing.meanLoss,
      rtcpPackets: this.#rtcpPackets,
      ourAddress,
      moved: moved ? { packets: this.#elsewhereInSilence, to: this.#lastElsewhere } : null,
      fromElsewhere: this.#fromElsewhere,
      keys: session?.dtmf != null,
      peerAddress: session && describedAddress(session),
      dropped: this.#dropped,
      direction: session?.direction ?? 'inactive',
      held: session?.held ?? false,
    });
  }

  #reception() {
    const { received, lost } = this.#relayed;
    const [first, ...more] = this.#receptions;
    if (received === 0 && more.length === 0) return first ?? null;
    const sum = (field: 'received' | 'lost' | 'expected') =>
      this.#receptions.reduce((total, reception) => total + reception[field], 0);
    return {
      received: sum('received') + received,
      lost: sum('lost') + lost,
      expected: sum('expected') + received + lost,
      jitterMs: this.#relayedJitterMs ?? this.#receptions.at(-1)?.jitterMs ?? null,
    };
  }
}

/** What a count has grown by; counts restart with each path. */
function since(count: number, before: number): number {
  return count < before ? count : count - before;
}
