/**
 * Towards a browser. It checks our only candidate (we are ICE-lite, RFC 8445 section 2.5) and begins the DTLS handshake,
 * from which both sides take their SRTP keys (RFC 5764). Its certificate must have the fingerprint of its SDP.
 *
 *     +---------+  check   +-------------+  handshake   +-----------+  close_notify   +---------+  graceMs
 *     | waiting | -------> | handshaking | -----------> | connected | --------------> | closing | ---------> lost
 *     +---------+          +-------------+              +-----------+                 +---------+
 *          |                      |                           |
 *          | setUpMs since        | setUpMs, or               | no check for consentS (RFC 7675)
 *          | audio is due         | the handshake failed      |
 *          v                      v                           v
 *        lost                   lost                        lost
 */
import type { types } from 'mediasoup';
import type { Clock, Timer } from '#shared/clock.ts';
import { BrowserLost } from '../call/refused.ts';
import type { PeerTransport, TransportPlace } from './peer-transport.ts';
import type { BrowserAudio, Fingerprint, IceCredentials, NegotiatedAudio } from './sdp/session.ts';

const browserLimits = {
  /** From the first check, or from when audio is due, to the end of the handshake, ms. */
  setUpMs: 15_000,
  /** Without a check of the browser, s. Browsers send one every few seconds. */
  consentS: 30,
  /** From the end of the browser's connection on, ms: its BYE takes another way, and may come later. */
  graceMs: 2_000,
};

export interface BrowserTransportOptions extends TransportPlace {
  readonly clock: Clock;
  /** Called at most once, and not after `close`. */
  readonly lost: (error: BrowserLost) => void;
  /** Without a check of the browser, s; default 30. */
  readonly consentS?: number;
}

export class BrowserTransport implements PeerTransport {
  readonly worker: types.WebRtcTransport;
  /** Chromium is silent when it gets an SSRC again that it had before the last one. */
  readonly forgetsStreams = true;
  readonly #options: BrowserTransportOptions;
  #peer: BrowserAudio | null = null;
  #timer: Timer | null = null;
  #connected = false;
  #closed = false;
  readonly #consentS: number;

  private constructor(worker: types.WebRtcTransport, options: BrowserTransportOptions) {
    this.worker = worker;
    this.#options = options;
    this.#consentS = consentOf(options);
    worker.on('icestatechange', (state) => this.#iceChanged(state));
    worker.on('dtlsstatechange', (state) => this.#dtlsChanged(state));
  }

  static async open(options: BrowserTransportOptions): Promise<BrowserTransport> {
    const { router, listenIp, port } = options;
    const worker = await router.createWebRtcTransport({
      listenInfos: [{ protocol: 'udp', ip: listenIp, port }],
      iceConsentTimeout: consentOf(options),
    });
    return new BrowserTransport(worker, options);
  }

  get keys(): { readonly ice: IceCredentials; readonly fingerprint: Fingerprint } {
    const { iceParameters, dtlsParameters } = this.worker;
    const own = dtlsParameters.fingerprints.find(({ algorithm }) => algorithm === 'sha-256');
    if (!own) throw new Error('the media worker has no SHA-256 fingerprint of its certificate');
    const ice = { ufrag: iceParameters.usernameFragment, pwd: iceParameters.password };
    return { ice, fingerprint: { algorithm: own.algorithm, value: own.value } };
  }

  async connect(peer: NegotiatedAudio): Promise<void> {
    if (peer.keying !== 'dtls') throw new Error('this transport takes its keys from DTLS');
    this.#peer = peer;
    const { dtlsRole: role, fingerprint } = peer;
    const algorithm = algorithms.find((known) => known === fingerprint.algorithm) ?? 'sha-256';
    await this.worker.connect({ dtlsParameters: { role, fingerprints: [{ ...fingerprint, algorithm }] } });
  }

  serves(session: NegotiatedAudio): boolean {
    const peer = this.#peer;
    if (!peer || session.keying !== 'dtls' || peer.dtlsRole !== session.dtlsRole) return false;
    const { algorithm, value } = peer.fingerprint;
    return algorithm === session.fingerprint.algorithm && value === session.fingerprint.value;
  }

  /** Other credentials of the browser ask for other ones of ours (RFC 8839 section 4.4.1.1.1). */
  async follow(session: NegotiatedAudio): Promise<void> {
    const peer = this.#peer;
    if (!peer || session.keying !== 'dtls') return;
    this.#peer = session;
    const restarts = peer.ice.ufrag !== session.ice.ufrag || peer.ice.pwd !== session.ice.pwd;
    if (restarts) await this.worker.restartIce();
  }

  due(): void {
    if (this.#connected || this.#timer || this.#closed) return;
    this.#wait(browserLimits.setUpMs, () => this.#setUpProblem());
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.worker.close();
  }

  #iceChanged(state: types.IceState): void {
    if (state === 'disconnected') {
      const text = `The browser is gone: no ICE check arrived for ${this.#consentS} s.`;
      this.#lose(text);
    } else this.due();
  }

  #dtlsChanged(state: types.DtlsState): void {
    if (state === 'connected') {
      this.#connected = true;
      this.#timer?.cancel();
    } else if (state === 'failed') {
      this.#lose('The DTLS handshake with the browser failed, or its certificate is not that of its SDP.');
    } else if (state === 'closed') {
      this.#timer?.cancel();
      this.#wait(browserLimits.graceMs, () => 'The browser closed its connection without a BYE.');
    }
  }

  #setUpProblem(): string {
    const { setUpMs } = browserLimits;
    const { port } = this.#options;
    return this.worker.iceState === 'new'
      ? `No ICE check of the browser arrived at UDP port ${port} within ${setUpMs / 1000} s: a firewall may block it.`
      : `The browser reached UDP port ${port}, but DTLS did not complete within ${setUpMs / 1000} s.`;
  }

  #wait(ms: number, problem: () => string): void {
    this.#timer = this.#options.clock.after(ms, () => this.#lose(problem()));
  }

  #lose(problem: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    this.#options.lost(new BrowserLost(problem));
  }
}

function consentOf({ consentS = browserLimits.consentS }: BrowserTransportOptions): number {
  return consentS;
}

const algorithms: readonly types.FingerprintAlgorithm[] = ['sha-256', 'sha-384', 'sha-512'];
