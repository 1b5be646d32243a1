/**
 * The media side of one SIP leg.
 *
 *                    answer(offer) / offer() + accept(answer)
 *     +-----+ ------------------------------------------------> +---------+
 *     | new |                                                   | talking | <--+ again: same path, or a new one
 *     +-----+                                                   +---------+ ---+
 *        |                                                        |     |
 *        |                     close()                            |     | the worker died
 *        v                                                        v     v
 *     +--------+ <----------------------------------------------------+--------+
 *     | closed |                                                      | failed |
 *     +--------+                                                      +--------+
 *
 * A later offer that moves media or changes keys, codec or payload types gets a new path (a port pair, keys and
 * worker objects of its own). The old path is heard until the first packet comes on the new one, but no longer
 * than `drainMs`.
 */

import type { Clock, Timer } from '#shared/clock.ts';
import type { CodecName } from '#shared/codecs.ts';
import type { MediaReport } from '#shared/edge-protocol.ts';
import { type AudioEndpoint, CallRefused, type MediaLeg, type MediaLegOptions } from '../call/ports.ts';
import { AudioExchange } from './audio-exchange.ts';
import { LegQuality } from './leg-quality.ts';
import type { MediaLog } from './log.ts';
import { unreachable } from './media-address.ts';
import { type SessionPayloads, tableKey } from './payloads.ts';
import type { Playout } from './playout.ts';
import type { RtpPorts } from './rtp-ports.ts';
import { codecFormats, telephoneEventPayloadTypes } from './sdp/formats.ts';
import { acceptAnswer, createOffer, negotiateAnswer } from './sdp/negotiate.ts';
import { parseSdp } from './sdp/sdp.ts';
import { type LocalMedia, type NegotiatedAudio, sendsMedia } from './sdp/session.ts';
import { SrtpPath } from './srtp-path.ts';
import type { MediaWorker } from './worker-pool.ts';

/** What all legs share. */
export interface LegSurroundings {
  readonly ports: RtpPorts;
  readonly playout: Playout;
  readonly clock: Clock;
  readonly log: MediaLog;
  /** Local address to bind. */
  readonly listenIp: string;
  /** Address for SDP. */
  readonly announcedIp: string;
  /** Milliseconds for which a replaced path is still heard. */
  readonly drainMs: number;
}

/** Stands in SDP that is made only to see what an offer comes to. */
const placeholderKey = 'A'.repeat(40);

export class Leg implements MediaLeg {
  readonly #options: MediaLegOptions;
  readonly #shared: LegSurroundings;
  readonly #worker: MediaWorker;
  readonly #leaveWorker: () => void;
  readonly #exchange: AudioExchange;
  readonly #quality: LegQuality;
  readonly #sessionId: string;
  readonly #closed: () => void;
  #path: SrtpPath | null = null;
  #draining: { path: SrtpPath; timer: Timer } | null = null;
  #session: NegotiatedAudio | null = null;
  /** The description that we sent last. */
  #sentSdp: string | null = null;
  /** Operations of signaling run one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  #ended: Error | null = null;

  constructor(options: MediaLegOptions, shared: LegSurroundings, worker: MediaWorker, closed: () => void) {
    this.#options = options;
    this.#shared = shared;
    this.#worker = worker;
    this.#closed = closed;
    this.#quality = new LegQuality(shared.clock);
    this.#exchange = new AudioExchange({
      playout: shared.playout,
      clock: shared.clock,
      quality: this.#quality,
      failed: (error) => this.#fail(error),
    });
    this.#sessionId = String(Math.floor(shared.clock.now()));
    this.#leaveWorker = worker.enter((error) =>
      this.#fail(new Error(`the media worker died: ${error.message}`)),
    );
  }

  get codec(): CodecName | null {
    return this.#session?.codec ?? null;
  }

  get held(): boolean {
    return this.#session?.held ?? false;
  }

  /** RTP port towards the peer, null before the first description. */
  get rtpPort(): number | null {
    return this.#path?.port ?? null;
  }

  answer(offer: string): Promise<string> {
    return this.#inTurn(async () => {
      const theirs = parseSdp(offer);
      const { session } = negotiateAnswer(theirs, this.#local(null));
      this.#checkReach(session);
      const kept = this.#path;
      if (kept && !this.#needsNewPath(kept, session)) {
        const { answer } = negotiateAnswer(theirs, this.#local(kept));
        this.#settle(session, answer);
        return answer;
      }
      const path = await this.#open(session.rtcpMux);
      try {
        const negotiated = negotiateAnswer(theirs, this.#local(path));
        await this.#carry(path, session, session);
        this.#settle(session, negotiated.answer);
        return negotiated.answer;
      } catch (error) {
        path.close();
        throw error;
      }
    });
  }

  offer(): Promise<string> {
    return this.#inTurn(async () => {
      this.#path ??= await this.#open(false);
      const offer = createOffer(this.#local(this.#path));
      this.#sentSdp = offer;
      return offer;
    });
  }

  accept(answer: string): Promise<void> {
    return this.#inTurn(async () => {
      const path = this.#path;
      if (!path || this.#sentSdp === null) throw new Error('accept() without offer()');
      const session = acceptAnswer(this.#sentSdp, answer);
      this.#checkReach(session);
      if (!path.peer) {
        await this.#carry(path, session, offeredPayloads(session));
      } else if (this.#needsNewPath(path, session)) {
        const text = 'The answer moves media or changes keys: offer that in a re-INVITE';
        throw new CallRefused(488, text, text);
      }
      this.#settle(session, this.#sentSdp);
    });
  }

  attach(endpoint: AudioEndpoint | null): void {
    if (!this.#ended) this.#exchange.attach(endpoint);
  }

  async sendDtmf(digits: string): Promise<void> {
    if (this.#ended) return;
    if (!this.#session) throw new Error('key presses cannot be sent before media is negotiated');
    if (!this.#session.dtmf)
      throw new Error('the peer takes no telephone-event, so no key presses can be sent to it');
    await this.#exchange.press(digits, this.#session.dtmf.clockRate);
  }

  silentForMs(): number {
    return this.#quality.silentForMs();
  }

  report(): MediaReport {
    return this.#quality.report(this.#session, this.#exchange);
  }

  /** Looks after the leg, every half second: round trip, and a peer that changed its SSRC. */
  async inspect(): Promise<void> {
    const path = this.#path;
    if (this.#ended || !path?.peer || !this.#quality.statsDue()) return;
    const stats = await path.stats();
    if (this.#ended || path !== this.#path) return;
    if (this.#quality.takeStats(stats) === 'unknown stream') {
      this.#shared.log.info(
        { call_id: this.#options.callId },
        'the peer changed its SSRC; taking the new stream',
      );
      await path.relearn((packet) => this.#received(path, packet));
    }
  }

  close(): void {
    if (!this.#release(new Error('the media leg is closed'))) return;
    this.#closed();
  }

  #fail(error: Error): void {
    if (this.#ended) return;
    this.#shared.log.error(
      { call_id: this.#options.callId, error: error.message },
      'the call lost its media',
    );
    this.#release(error);
    this.#closed();
    this.#options.failed?.(error);
  }

  #release(reason: Error): boolean {
    if (this.#ended) return false;
    this.#ended = reason;
    this.#exchange.close();
    this.#draining?.timer.cancel();
    this.#draining?.path.close();
    this.#path?.close();
    this.#leaveWorker();
    return true;
  }

  #inTurn<T>(operation: () => Promise<T>): Promise<T> {
    const run = async () => {
      if (this.#ended) throw this.#ended;
      try {
        return await operation();
      } catch (error) {
        if (error instanceof CallRefused) throw error;
        throw this.#ended ?? error;
      }
    };
    const result = this.#turn.then(run);
    this.#turn = result.catch(() => {});
    return result;
  }

  #local(path: SrtpPath | null): LocalMedia {
    return {
      address: this.#shared.announcedIp,
      rtpPort: path?.port ?? 9,
      codecs: this.#options.codecs,
      cryptoKey: path?.localKey ?? placeholderKey,
      sessionId: this.#sessionId,
      previous: this.#sentSdp,
      current: this.#session,
      rtcpMux: true,
    };
  }

  async #open(rtcpMux: boolean): Promise<SrtpPath> {
    const { ports, listenIp } = this.#shared;
    const path = await SrtpPath.open({ worker: this.#worker, ports, listenIp, rtcpMux });
    if (!this.#ended) return path;
    path.close();
    throw this.#ended;
  }

  /** Sets `path` going and makes it the leg's one. `receives`: payload types that the peer will use. */
  async #carry(path: SrtpPath, session: NegotiatedAudio, receives: SessionPayloads): Promise<void> {
    const ssrc = this.#worker.newSsrc();
    await path.carry(session, receives, ssrc, (packet) => this.#received(path, packet));
    if (this.#ended) throw this.#ended;
    const old = this.#path;
    this.#path = path;
    if (old && old !== path) this.#drain(old);
    this.#exchange.use(session, receives, { ssrc, send: (packet) => path.send(packet) });
  }

  #checkReach(session: NegotiatedAudio): void {
    const problem = unreachable(session.remote.address, this.#shared.listenIp);
    if (problem) throw new CallRefused(488, problem, problem);
  }

  #needsNewPath(path: SrtpPath, session: NegotiatedAudio): boolean {
    const peer = path.peer;
    if (!peer || path.rtcpMux !== session.rtcpMux || peer.remoteKey !== session.remoteKey) return true;
    if (tableKey(peer) !== tableKey(session)) return true;
    const { address, rtpPort, rtcpPort } = session.remote;
    // The old way to hold says 0.0.0.0 and means to come back to where it was (RFC 3264 section 8.4).
    if (address === '0.0.0.0' || address === '::') return false;
    return (
      address !== peer.remote.address || rtpPort !== peer.remote.rtpPort || rtcpPort !== peer.remote.rtcpPort
    );
  }

  #settle(session: NegotiatedAudio, sdp: string): void {
    this.#session = session;
    this.#sentSdp = sdp;
    this.#quality.begin();
    this.#exchange.sending = sendsMedia(session.direction) && !session.held;
  }

  #drain(path: SrtpPath): void {
    this.#endDrain();
    const timer = this.#shared.clock.after(this.#shared.drainMs, () => this.#endDrain());
    this.#draining = { path, timer };
  }

  #endDrain(): void {
    this.#draining?.timer.cancel();
    this.#draining?.path.close();
    this.#draining = null;
  }

  #received(path: SrtpPath, packet: Buffer): void {
    if (path === this.#path && this.#draining) this.#endDrain();
    if (!path.closed) this.#exchange.received(packet);
  }
}

/** The payload types of our own first offer for what the peer chose: under these it sends (RFC 3264 section 5.1). */
function offeredPayloads(session: NegotiatedAudio): SessionPayloads {
  const events = session.dtmf;
  const payloadType = events && telephoneEventPayloadTypes.get(events.clockRate);
  return {
    codec: session.codec,
    payloadType: codecFormats[session.codec].payloadType,
    dtmf: events && payloadType ? { payloadType, clockRate: events.clockRate } : null,
  };
}
