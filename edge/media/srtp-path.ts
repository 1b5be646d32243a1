/**
 * One SRTP session with a peer, from its port pair to Node. A re-INVITE that moves media or changes keys replaces it
 * as a whole, because a worker's transport can be connected only once.
 *
 *     peer  ==SRTP==>  plain transport -> producer -> consumer -> direct transport -> received(packet)
 *     peer  <==SRTP==  plain transport <- consumer <- producer <- direct transport <- send(packet)
 *
 * For two bridged paths the worker relays the packets itself, and the right-hand halves are absent:
 *
 *     peer  ==SRTP==>  plain transport -> producer -> consumer (relay) -> plain transport  ==SRTP==>  other peer
 *
 * Packets are sent to the address in the peer's SDP at once (early media, a peer that waits for us to talk first).
 * The first authenticated packet shows the peer's real address (symmetric RTP, RFC 4961): from then on packets are
 * sent there, and those from elsewhere are dropped before they affect the SRTP state. RTCP follows its own source in
 * the same way. A patch of the worker does this; see worker/patches/.
 *
 * Three round trips to the worker: open; connect and produce; consume.
 */
import type { types } from 'mediasoup';
import { isAnyAddress, isSameHost } from '#shared/networks.ts';
import type { DroppedPackets } from '../call/media-verdict.ts';
import { CallRefused } from '../call/refused.ts';
import { isDestination } from './media-address.ts';
import {
  consumerCapabilities,
  producerParameters,
  relayCapabilities,
  type SessionPayloads,
  sendingKey,
} from './payloads.ts';
import { Relay } from './relay.ts';
import type { RtpPorts } from './rtp-ports.ts';
import type { NegotiatedAudio } from './sdp/session.ts';
import type { PacketSender } from './worker-pipe.ts';
import type { MediaWorker } from './worker-pool.ts';

export interface SrtpPathOptions {
  readonly worker: MediaWorker;
  readonly ports: RtpPorts;
  /** Local address to bind. */
  readonly listenIp: string;
  /** RTP and RTCP on one port (RFC 5761). */
  readonly rtcpMux: boolean;
}

export interface PathPeer extends SessionPayloads {
  readonly remote: { readonly address: string; readonly rtpPort: number; readonly rtcpPort: number };
  /** SRTP master key and salt, bare base64. */
  readonly remoteKey: string;
  /** Master key identifiers in the packets of the peer and in ours, hexadecimal digits; null: none. */
  readonly remoteMki: string | null;
  readonly localMki: string | null;
}

/** Gets each authenticated, decrypted RTP packet from the peer; it may have a header extension. */
type Received = (packet: Buffer) => void;

export interface PathStats {
  /** Packets dropped since the path was opened, by reason. */
  readonly dropped: DroppedPackets;
  /** Authentic RTCP packets from the peer since then. */
  readonly rtcpPackets: number;
  /**
   * Sender and receiver reports among them, and how many of these have a block about a stream of ours. A report
   * before which nothing new was sent to the peer is in neither count: it says nothing.
   */
  readonly reports: number;
  readonly reportsAboutUs: number;
  /**
   * Packets sent to the peer after the highest sequence number in its last report about us; 0 when that number
   * has changed since the previous report.
   */
  readonly unheard: number;
  /** Packets from the peer between its first and its last sender report: sent by its own count, and received. */
  readonly sentByPeer: number;
  readonly arrivedOfThem: number;
  /** Source of the last RTP packet from elsewhere: `address:port`, IPv4 only; null: none, or over IPv6. */
  readonly lastElsewhere: string | null;
  /** From the peer's last receiver report, null before one arrived. */
  readonly roundTripMs: number | null;
  /** Share of our packets that the peer lost between its last two receiver reports, 0..1; null before one arrived. */
  readonly peerLoss: number | null;
}

/** Port pairs to try when the system reports that a port of ours is in use. */
const portAttempts = 8;

export class SrtpPath {
  readonly port: number;
  readonly rtcpMux: boolean;
  /** Of the packets that this process sends over the path. The worker uses another one towards the peer. */
  readonly ssrc: number;
  readonly #options: SrtpPathOptions;
  readonly #transport: types.PlainTransport;
  #peer: PathPeer | null = null;
  #receives: SessionPayloads | null = null;
  #received: Received | null = null;
  #sending: Promise<void> | null = null;
  #outgoing: types.Producer | null = null;
  #sender: PacketSender | null = null;
  #outgoingConsumer: types.Consumer | null = null;
  #incoming: types.Producer | null = null;
  #listener: types.Consumer | null = null;
  /** Packets of the current stream already counted. */
  #counted = 0;
  #mids = 0;
  #closed = false;

  private constructor(options: SrtpPathOptions, port: number, transport: types.PlainTransport) {
    this.#options = options;
    this.port = port;
    this.rtcpMux = options.rtcpMux;
    this.ssrc = options.worker.newSsrc();
    this.#transport = transport;
  }

  /**
   * Binds a port pair.
   * @throws CallRefused 503 when no pair is free
   */
  static async open(options: SrtpPathOptions): Promise<SrtpPath> {
    for (let attempt = 1; ; attempt++) {
      const port = options.ports.take();
      try {
        return new SrtpPath(options, port, await bind(options, port));
      } catch (error) {
        options.ports.give(port);
        if (options.worker.closed) throw new CallRefused(503, 'the media worker died during call setup');
        if (attempt === portAttempts) {
          throw new CallRefused(503, `no RTP port could be bound, last tried ${port}: ${String(error)}`);
        }
      }
    }
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Our SRTP master key and salt for SDP, bare base64. */
  get localKey(): string {
    return this.#transport.srtpParameters?.keyBase64 ?? '';
  }

  /** The peer of this path, null before `carry`. */
  get peer(): PathPeer | null {
    return this.#peer;
  }

  /** The payload types that the peer sends, null before `carry`. */
  get receives(): SessionPayloads | null {
    return this.#receives;
  }

  /** Distinguishes streams of the peer: changes after `relearn`. Null before `carry`. */
  get stream(): string | null {
    return this.#incoming?.id ?? null;
  }

  /** Whether this process is an end of the path. */
  get atNode(): boolean {
    return this.#received !== null;
  }

  /** Whether the path can carry `session`: same address, keys and payload types. */
  serves(session: NegotiatedAudio): boolean {
    const peer = this.#peer;
    if (!peer || this.rtcpMux !== session.rtcpMux || peer.remoteKey !== session.remoteKey) return false;
    if (peer.remoteMki !== session.remoteMki || peer.localMki !== session.localMki) return false;
    if (sendingKey(peer) !== sendingKey(session)) return false;
    const { address, rtpPort, rtcpPort } = session.remote;
    // An old-style hold states 0.0.0.0, and the peer will return to its previous address (RFC 3264 section 8.4).
    if (isAnyAddress(address)) return true;
    return (
      isSameHost(address, peer.remote.address) &&
      rtpPort === peer.remote.rtpPort &&
      rtcpPort === peer.remote.rtcpPort
    );
  }

  /**
   * Connects to the peer and starts to carry packets, once.
   * @param peer whom to connect to, and the payload types that it wants
   * @param receives the payload types that it sends: ours, if the offer was ours
   * @param received null: the packets stay in the worker, for `relayFrom` of another path
   */
  async carry(peer: PathPeer, receives: SessionPayloads, received: Received | null): Promise<void> {
    this.#peer = peer;
    this.#receives = receives;
    this.#received = received;
    if (received) this.#sending = this.#send(peer);
    const [incoming] = await Promise.all([this.#produce(receives), this.#connect(peer), this.#sending]);
    this.#incoming = incoming;
    if (this.#received) await this.#listen(this.#received);
  }

  /** Makes this process an end of a carried path. The stream that it sent before continues. */
  async joinNode(received: Received): Promise<void> {
    const peer = this.#peer;
    if (!peer || this.#closed) return;
    this.#received = received;
    this.#sending ??= this.#send(peer);
    await Promise.all([this.#sending, this.#listen(received)]);
  }

  /** From now on no packet of the path enters this process, and none should leave it. */
  leaveNode(): void {
    this.#received = null;
    this.#listener?.close();
    this.#listener = null;
  }

  /**
   * Sends to the peer what arrives from the peer of `source`, inside the worker, under this peer's payload types.
   * The stream has its own SSRC. It ends with either path, and when `source` switches to another SSRC of its
   * peer.
   * @param paused whether to start without sending
   */
  async relayFrom(source: SrtpPath, paused: boolean): Promise<Relay> {
    const incoming = source.#incoming;
    const receives = source.#receives;
    if (!incoming || !receives || !this.#peer) throw new Error('cannot relay between paths before carry()');
    const consumer = await this.#transport.consume({
      producerId: incoming.id,
      rtpCapabilities: relayCapabilities(receives, this.#peer),
      paused,
    });
    return new Relay(consumer, paused, (total) => source.#takeCount(incoming, total));
  }

  /** Sends an RTP packet; it is copied before this returns. No effect unless this process is an end. */
  send(packet: Buffer): void {
    this.#sender?.send(packet);
  }

  /**
   * Switches to the peer's next SSRC. The worker binds a producer to the first one and drops any later one, so a
   * peer that changes its SSRC during the call is heard again only through a new producer.
   */
  async relearn(): Promise<void> {
    const receives = this.#receives;
    if (!receives || !this.#incoming || this.#closed) return;
    this.#incoming.close();
    this.#incoming = await this.#produce(receives);
    if (this.#received) await this.#listen(this.#received);
  }

  async stats(): Promise<PathStats> {
    const [[transport], sent] = await Promise.all([
      this.#transport.getStats(),
      this.#outgoingConsumer?.getStats(),
    ]);
    const outbound = sent?.find((stat) => stat.type === 'outbound-rtp');
    const roundTrip = outbound && 'roundTripTime' in outbound ? outbound.roundTripTime : undefined;
    // The patched worker reports counts in fields that it does not otherwise use; see worker/patches/.
    const dropped = {
      fromElsewhere: transport?.availableIncomingBitrate ?? 0,
      undecrypted: transport?.availableOutgoingBitrate ?? 0,
      unclaimed: transport?.rtpPacketLossReceived ?? 0,
    };
    const rtcpPackets = transport?.rtpPacketLossSent ?? 0;
    const reports = transport?.rtxBytesReceived ?? 0;
    const reportsAboutUs = transport?.rtxBytesSent ?? 0;
    const unheard = transport?.rtxSendBitrate ?? 0;
    const sentByPeer = transport?.probationBytesSent ?? 0;
    const arrivedOfThem = transport?.probationSendBitrate ?? 0;
    const lastElsewhere = sourceOf(transport?.rtxRecvBitrate ?? 0);
    const lost = outbound && 'fractionLost' in outbound ? outbound.fractionLost : undefined;
    // RFC 3550 section 6.4.1: in 256ths; the worker reports 0 before the first report. While packets bypass this
    // process, reports are about the relay's stream.
    const peerLoss = reportsAboutUs > 0 && this.atNode && lost !== undefined ? lost / 256 : null;
    const roundTripMs = (this.atNode && roundTrip) || null;
    const fromReports = { reports, reportsAboutUs, unheard, sentByPeer, arrivedOfThem };
    return { dropped, rtcpPackets, ...fromReports, lastElsewhere, roundTripMs, peerLoss };
  }

  /** Releases the ports and everything in the worker. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.leaveNode();
    this.#outgoing?.close();
    this.#transport.close();
    this.#options.ports.give(this.port);
  }

  /** The producer is on the shared transport, so only the end of this path closes it. */
  async #send(peer: PathPeer): Promise<void> {
    const { worker } = this.#options;
    worker.use(peer);
    const producer = await worker.direct.produce({
      kind: 'audio',
      rtpParameters: producerParameters(peer, { ssrc: this.ssrc }),
    });
    if (this.#closed) {
      producer.close();
      throw new Error('the media path was closed during setup');
    }
    this.#outgoing = producer;
    this.#sender = worker.sender(producer);
    this.#outgoingConsumer = await this.#transport.consume({
      producerId: producer.id,
      rtpCapabilities: consumerCapabilities(peer),
    });
  }

  #connect(peer: PathPeer): Promise<void> {
    const { remoteKey, remoteMki, localMki } = peer;
    // The patched worker reads the identifiers after the key; see worker/patches/.
    const identified = remoteMki !== null || localMki !== null;
    const keyBase64 = identified ? `${remoteKey}|${remoteMki ?? ''}|${localMki ?? ''}` : remoteKey;
    const srtpParameters = { cryptoSuite: 'AES_CM_128_HMAC_SHA1_80', keyBase64 } as const;
    const { address, rtpPort, rtcpPort } = peer.remote;
    if (!isDestination(address)) return this.#transport.connect({ srtpParameters });
    const rtcp = this.rtcpMux ? {} : { rtcpPort };
    return this.#transport.connect({ ip: address, port: rtpPort, ...rtcp, srtpParameters });
  }

  #produce(receives: SessionPayloads): Promise<types.Producer> {
    this.#options.worker.use(receives);
    this.#counted = 0;
    // The worker requires a MID when there is no SSRC, and each must be new to the transport.
    const mid = String(this.#mids++);
    return this.#transport.produce({ kind: 'audio', rtpParameters: producerParameters(receives, { mid }) });
  }

  async #listen(received: Received): Promise<void> {
    const incoming = this.#incoming;
    const receives = this.#receives;
    if (!incoming || !receives) return;
    const consumer = await this.#options.worker.direct.consume({
      producerId: incoming.id,
      rtpCapabilities: consumerCapabilities(receives),
    });
    if (this.#received !== received) return consumer.close();
    this.#listener = consumer;
    consumer.on('rtp', (packet) => {
      this.#counted++;
      received(packet);
    });
    this.#options.worker.receive(consumer);
  }

  /** Packets of `stream` not counted yet, out of `total` that the worker has seen. */
  #takeCount(stream: types.Producer, total: number): number {
    if (stream !== this.#incoming) return 0;
    const fresh = Math.max(0, total - this.#counted);
    this.#counted += fresh;
    return fresh;
  }
}

/** 32 bits of IPv4 address, then 16 of port, as the patched worker reports them; 0: none. */
function sourceOf(value: number): string | null {
  if (value === 0) return null;
  const address = Math.floor(value / 0x1_0000);
  const octets = [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff);
  return `${octets.join('.')}:${value % 0x1_0000}`;
}

function bind(options: SrtpPathOptions, port: number): Promise<types.PlainTransport> {
  const listen = { protocol: 'udp', ip: options.listenIp } as const;
  const rtcp = options.rtcpMux ? {} : { rtcpListenInfo: { ...listen, port: port + 1 } };
  return options.worker.router.createPlainTransport({
    listenInfo: { ...listen, port },
    ...rtcp,
    rtcpMux: options.rtcpMux,
    comedia: true,
    enableSrtp: true,
    srtpCryptoSuite: 'AES_CM_128_HMAC_SHA1_80',
  });
}
