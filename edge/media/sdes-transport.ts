/**
 * Towards a SIP peer: the address and the keys are in its SDP (SDES, RFC 4568).
 *
 * Packets are sent to that address at once (early media, a peer that waits for us to talk first). The first
 * authenticated packet shows the peer's real address (symmetric RTP, RFC 4961): from then on packets are sent there, and
 * those from elsewhere are dropped before they affect the SRTP state. RTCP follows its own source in the same way. A
 * patch of the worker does this; see worker/patches/.
 */
import type { types } from 'mediasoup';
import { isAnyAddress, isSameHost } from '#shared/networks.ts';
import { isDestination } from './media-address.ts';
import type { PeerTransport, TransportPlace } from './peer-transport.ts';
import type { NegotiatedAudio, SdesAudio } from './sdp/session.ts';

export class SdesTransport implements PeerTransport {
  readonly worker: types.PlainTransport;
  readonly forgetsStreams = false;
  readonly #rtcpMux: boolean;
  #peer: SdesAudio | null = null;

  private constructor(worker: types.PlainTransport, rtcpMux: boolean) {
    this.worker = worker;
    this.#rtcpMux = rtcpMux;
  }

  /** @param rtcpMux RTP and RTCP on one port (RFC 5761); otherwise RTCP uses the port after RTP's */
  static async open({ router, listenIp, port }: TransportPlace, rtcpMux: boolean): Promise<SdesTransport> {
    const listen = { protocol: 'udp', ip: listenIp } as const;
    const rtcp = rtcpMux ? {} : { rtcpListenInfo: { ...listen, port: port + 1 } };
    const worker = await router.createPlainTransport({
      listenInfo: { ...listen, port },
      ...rtcp,
      rtcpMux,
      comedia: true,
      enableSrtp: true,
      srtpCryptoSuite: 'AES_CM_128_HMAC_SHA1_80',
    });
    return new SdesTransport(worker, rtcpMux);
  }

  get keys(): { readonly cryptoKey: string } {
    return { cryptoKey: this.worker.srtpParameters?.keyBase64 ?? '' };
  }

  async connect(peer: NegotiatedAudio): Promise<void> {
    if (peer.keying !== 'sdes') throw new Error('this transport has SDES keys');
    this.#peer = peer;
    const { remoteKey, remoteMki, localMki } = peer;
    // The patched worker reads the identifiers after the key; see worker/patches/.
    const identified = remoteMki !== null || localMki !== null;
    const keyBase64 = identified ? `${remoteKey}|${remoteMki ?? ''}|${localMki ?? ''}` : remoteKey;
    const srtpParameters = { cryptoSuite: 'AES_CM_128_HMAC_SHA1_80', keyBase64 } as const;
    const { address, rtpPort, rtcpPort } = peer.remote;
    if (!isDestination(address)) return this.worker.connect({ srtpParameters });
    const rtcp = this.#rtcpMux ? {} : { rtcpPort };
    return this.worker.connect({ ip: address, port: rtpPort, ...rtcp, srtpParameters });
  }

  serves(session: NegotiatedAudio): boolean {
    const peer = this.#peer;
    if (!peer || session.keying !== 'sdes' || session.rtcpMux !== this.#rtcpMux) return false;
    if (peer.remoteKey !== session.remoteKey) return false;
    if (peer.remoteMki !== session.remoteMki || peer.localMki !== session.localMki) return false;
    const { address, rtpPort, rtcpPort } = session.remote;
    // An old-style hold states 0.0.0.0, and the peer will return to its previous address (RFC 3264 section 8.4).
    if (isAnyAddress(address)) return true;
    return (
      isSameHost(address, peer.remote.address) &&
      rtpPort === peer.remote.rtpPort &&
      rtcpPort === peer.remote.rtcpPort
    );
  }

  async follow(): Promise<void> {}

  /** The call watches for silence. */
  due(): void {}

  close(): void {
    this.worker.close();
  }
}
