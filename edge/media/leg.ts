/**
 * The media side of one leg, of a SIP peer or of a browser.
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
 * A later offer that moves media or changes keys, codec or payload types gets a new path (with its own port
 * pair, keys and worker objects). Packets on the old path are accepted until the first one arrives on the new
 * path, but no longer than `drainMs`. A bridge may replace the leg's owner (bridge.ts).
 */
import type { CodecName } from '#shared/codecs.ts';
import type { MediaReport } from '#shared/edge-protocol/calls.ts';
import type {
  AudioEndpoint,
  DtmfEvent,
  LegRecording,
  LocalLeg,
  MediaLeg,
  MediaLegOptions,
  RecordingOrder,
} from '../call/ports/media.ts';
import { BrowserLost, CallRefused } from '../call/refused.ts';
import { AudioExchange } from './audio-exchange.ts';
import { InTurn } from './in-turn.ts';
import { LegAudio, type Tap } from './leg-audio.ts';
import type { LegBridge } from './leg-bridge.ts';
import { ownSecret, peerSecret, placeholderKeys } from './leg-keys.ts';
import { LegPaths } from './leg-paths.ts';
import { LegQuality } from './leg-quality.ts';
import type { LegSurroundings } from './leg-surroundings.ts';
import { checkReach } from './media-address.ts';
import { offeredPayloads, type SessionPayloads } from './payloads.ts';
import { LegRecorder } from './recording/leg-recorder.ts';
import { acceptAnswer, createOffer, negotiateAnswer } from './sdp/negotiate.ts';
import { parseSdp } from './sdp/sdp.ts';
import { type LocalMedia, type NegotiatedAudio, sendsMedia } from './sdp/session.ts';
import { SrtpPath } from './srtp-path.ts';
import type { MediaWorker } from './worker-pool.ts';

export class Leg implements LocalLeg {
  readonly quality: LegQuality;
  readonly worker: MediaWorker;
  readonly #options: MediaLegOptions;
  readonly #shared: LegSurroundings;
  readonly #leaveWorker: () => void;
  readonly #exchange: AudioExchange;
  readonly #audio: LegAudio;
  readonly #sessionId: string;
  readonly #closed: () => void;
  readonly #paths: LegPaths;
  #session: NegotiatedAudio | null = null;
  /** The last description that we sent. */
  #sentSdp: string | null = null;
  /** Operations of signaling. */
  readonly #turns = new InTurn();
  #ended: Error | null = null;
  #bridge: LegBridge<Leg> | null = null;
  #holding = false;
  #isDue = false;
  #recorder: LegRecorder | null = null;
  readonly withdraw = (): void => this.#paths.dropOffered();

  constructor(options: MediaLegOptions, shared: LegSurroundings, worker: MediaWorker, closed: () => void) {
    this.#options = options;
    this.#shared = shared;
    this.worker = worker;
    this.#closed = closed;
    this.#paths = new LegPaths(shared.clock, shared.drainMs);
    this.quality = new LegQuality(shared.clock, options.sampled, shared.traffic);
    this.#exchange = new AudioExchange({
      playout: shared.playout,
      clock: shared.clock,
      quality: this.quality,
      failed: (error) => this.#fail(error),
    });
    this.#audio = new LegAudio({
      exchange: this.#exchange,
      quality: this.quality,
      received: (path, packet) => this.#received(path, packet),
      tapped: () => void this.#bridge?.follow(),
      way: options.way,
    });
    this.#sessionId = String(Math.floor(shared.clock.now()));
    this.#leaveWorker = worker.enter((error) =>
      this.#fail(new Error(`the media worker died: ${error.message}`)),
    );
  }

  get codec(): CodecName | null {
    return this.#session?.codec ?? null;
  }

  get keys(): MediaLeg['keys'] {
    if (!this.#session) return null;
    return this.#session.dtmf ? 'telephone-event' : 'none';
  }

  /** The current negotiated session, null before the first. */
  get session(): NegotiatedAudio | null {
    return this.#session;
  }

  /** The path of its packets, null before the first description. */
  get path(): SrtpPath | null {
    return this.#paths.current;
  }

  get ended(): boolean {
    return this.#ended !== null;
  }

  get bridge(): LegBridge<Leg> | null {
    return this.#bridge;
  }

  get callId(): string {
    return this.#options.callId;
  }

  /** Whether audio may be sent to the peer now. */
  get sending(): boolean {
    return this.#session !== null && sendsMedia(this.#session.direction) && !this.#session.held;
  }

  get held(): boolean {
    return this.#session?.held ?? false;
  }

  answer(offer: string): Promise<string> {
    return this.#inTurn(async () => {
      const theirs = parseSdp(offer);
      const { session } = negotiateAnswer(theirs, this.#local(null));
      checkReach(session, this.#shared.listenIp);
      this.#bridge?.permit(this, session);
      const kept = this.path;
      if (kept?.serves(session)) {
        await kept.follow(session);
        // After an ICE restart both are new.
        this.#noteKeys(ownSecret(kept.keys), peerSecret(session));
        const { answer } = negotiateAnswer(theirs, this.#local(kept));
        await this.#settle(session, answer);
        return answer;
      }
      const path = await this.#open(session.rtcpMux);
      try {
        const negotiated = negotiateAnswer(theirs, this.#local(path));
        await this.#carry(path, session, session);
        await this.#settle(session, negotiated.answer);
        return negotiated.answer;
      } catch (error) {
        path.close();
        throw error;
      }
    });
  }

  offer(anew = false): Promise<string> {
    return this.#inTurn(async () => {
      const path = (!anew && this.path) || (await this.#open(false));
      this.#paths.offer(path);
      this.#sentSdp = createOffer({ ...this.#local(path), ...(anew && { current: null }) });
      return this.#sentSdp;
    });
  }

  accept(answer: string): Promise<void> {
    return this.#inTurn(() => this.#accept(answer).finally(() => this.#paths.dropOffered()));
  }

  async #accept(answer: string): Promise<void> {
    const path = this.#paths.lastOffered;
    if (!path || this.#sentSdp === null) throw new Error('accept() without offer()');
    const session = acceptAnswer(this.#sentSdp, answer);
    checkReach(session, this.#shared.listenIp);
    if (!path.peer) this.#bridge?.permit(this, session);
    if (path.peer) path.mustServe(session);
    else await this.#carry(path, session, offeredPayloads(session));
    await this.#settle(session, this.#sentSdp);
  }

  attach(endpoint: AudioEndpoint | null): void {
    if (this.#ended) return;
    this.#audio.attach(endpoint);
    if (endpoint) this.#expectAudio();
  }

  hold(on: boolean): void {
    this.#holding = on;
  }

  pressed(key: DtmfEvent): void {
    this.#exchange.pressed('info', key);
  }

  /** Whether its audio must enter this process. */
  get recorded(): boolean {
    return this.#recorder !== null;
  }

  record(order: RecordingOrder): LegRecording {
    const { clock, recordings } = this.#shared;
    if (this.#ended) throw this.#ended;
    if (this.#recorder) throw new Error('the media leg is recorded already');
    if (!recordings) throw new Error('this edge has no folder for recordings');
    const recorder = new LegRecorder(order, { clock, ...recordings });
    recorder.sending = this.sending;
    this.#recorder = recorder;
    this.#audio.record(recorder);
    return recorder;
  }

  get tapped(): boolean {
    return this.#audio.tapped;
  }

  /** A bridge of the leg passes through this process while there is a tap. */
  tap(tap: Tap, on: boolean): void {
    this.#audio.tap(tap, on);
  }

  tell(...words: Parameters<LocalLeg['tell']>): void {
    this.#audio.tell(...words);
  }

  async sendDtmf(digits: string): Promise<void> {
    if (this.#ended) return;
    if (!this.#session) throw new Error('key presses cannot be sent before media is negotiated');
    if (!this.#session.dtmf)
      throw new Error('the peer does not support telephone-event, so no key presses can be sent to it');
    // They need the sequence numbers and SSRC of the stream that the worker relays (RFC 4733 section 2.1).
    if (this.#audio.relayed) throw new Error('the call is bridged: only its other party can press keys');
    await this.#exchange.press(digits, this.#session.dtmf.clockRate);
  }

  silentForMs(): number {
    return this.quality.silentForMs();
  }

  report(): MediaReport {
    this.#sample(true);
    return this.quality.report(this.#session, this.#exchange, this.#shared.announcedIp);
  }

  /** Enters a bridge. @throws CallRefused 488 before negotiation; Error when closed, or already in a bridge */
  enter(bridge: LegBridge<Leg>): void {
    if (this.#ended) throw this.#ended;
    if (this.#bridge) throw new Error('the media leg is already in a bridge');
    if (!this.path?.peer) throw new CallRefused(488, 'A leg without negotiated media cannot be bridged');
    this.#bridge = bridge;
    this.#audio.lend();
    this.#expectAudio();
  }

  /** Exchanges audio with the bridge's endpoint. */
  cross(endpoint: AudioEndpoint): Promise<void> {
    return this.#audio.cross(endpoint);
  }

  /** Lets packets bypass this process. */
  standAside(): void {
    this.#audio.standAside();
  }

  /** Leaves its bridge: audio is connected to the owner's endpoint again. */
  leave(): void {
    this.#bridge = null;
    const failed = (error: unknown) =>
      this.#fail(new Error(`the leg could not be restored after a bridge: ${String(error)}`));
    this.#audio.giveBack().catch(failed);
  }

  /** Every half second: updates counts and round trip, and detects a peer that changed its SSRC. */
  async inspect(): Promise<void> {
    const { path } = this;
    if (this.#ended || !path?.peer) return;
    await this.#bridge?.look(this);
    if (this.#ended) return;
    if (this.quality.statsDue()) await this.#lookAt(path);
    if (!this.#ended) this.#sample();
  }

  async #lookAt(path: SrtpPath): Promise<void> {
    const stats = await path.stats();
    if (this.#ended || path !== this.path) return;
    const sent = this.#exchange.packetsSent + this.quality.relayedSent;
    if (this.quality.takeStats(stats, sent) === 'unknown stream') {
      this.#shared.log.info({ call_id: this.callId }, 'the peer changed its SSRC; taking the new stream');
      await path.relearn();
      await this.#bridge?.follow();
    }
  }

  #sample(isLast = false): void {
    this.quality.sample(this.#session, this.#exchange, this.#audio.relayed, isLast);
  }

  close(): void {
    if (this.#release(new Error('the media leg is closed'))) this.#closed();
  }

  #fail(error: Error): void {
    if (this.#ended) return;
    const tell = error instanceof BrowserLost ? 'info' : 'error';
    this.#shared.log[tell]({ call_id: this.callId, error: error.message }, 'the call lost its media');
    this.#release(error);
    this.#closed();
    this.#options.failed?.(error);
  }

  #release(reason: Error): boolean {
    if (this.#ended) return false;
    this.#ended = reason;
    this.#audio.close();
    void this.#recorder?.close();
    this.#paths.close();
    this.#leaveWorker();
    this.#bridge?.close();
    return true;
  }

  #inTurn<T>(operation: () => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      if (this.#ended) throw this.#ended;
      try {
        return await operation();
      } catch (error) {
        if (error instanceof CallRefused) throw error;
        throw this.#ended ?? error;
      }
    });
  }

  #local(path: SrtpPath | null): LocalMedia {
    return {
      address: this.#shared.announcedIp,
      rtpPort: path?.port ?? 9,
      codecs: this.#options.codecs,
      ...(path?.keys ?? placeholderKeys(this.#options.browser === true)),
      sessionId: this.#sessionId,
      previous: this.#sentSdp,
      current: this.#session,
      rtcpMux: true,
      direction: this.#holding ? 'sendonly' : 'sendrecv',
    };
  }

  async #open(rtcpMux: boolean): Promise<SrtpPath> {
    const { ports, listenIp, clock } = this.#shared;
    const browser = { clock, lost: (error: Error) => this.#fail(error) };
    const to = this.#options.browser ? browser : { rtcpMux };
    const path = await SrtpPath.open({ worker: this.worker, ports, listenIp, to });
    this.#noteKeys(ownSecret(path.keys));
    if (!this.#ended) return path;
    path.close();
    throw this.#ended;
  }

  #noteKeys(...keys: readonly string[]): void {
    for (const key of keys) this.#shared.keyKnown(this.#options.callId, key);
  }

  /** Starts `path` and makes it the leg's current one. `receives`: payload types that the peer will use. */
  async #carry(path: SrtpPath, session: NegotiatedAudio, receives: SessionPayloads): Promise<void> {
    this.#noteKeys(peerSecret(session));
    await path.carry(session, receives, this.#audio.earFor(path));
    if (this.#ended) throw this.#ended;
    this.#paths.move(path);
    if (this.#isDue) path.due();
    await this.#audio.move(path, session);
  }

  #expectAudio(): void {
    this.#isDue = true;
    this.path?.due();
  }

  async #settle(session: NegotiatedAudio, sdp: string): Promise<void> {
    if (!this.#session && !session.dtmf) this.#shared.traffic.legsWithoutKeys++;
    this.#session = session;
    this.#sentSdp = sdp;
    this.quality.begin();
    this.#exchange.sending = this.sending;
    if (this.#recorder) this.#recorder.sending = this.sending;
    await this.#bridge?.follow();
  }

  #received(path: SrtpPath, packet: Buffer): void {
    this.#shared.traffic.packets++;
    this.#paths.heard(path);
    if (!path.closed) this.#exchange.received(packet);
  }
}
