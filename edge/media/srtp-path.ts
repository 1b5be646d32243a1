/**
 * One SRTP session with a peer, from its port pair to Node. A re-INVITE that moves media or changes keys replaces it
 * as a whole, because a worker's transport can be connected only once.
 *
 *     peer  ==SRTP==>  its transport -> producer -> consumer -> direct transport -> received(packet)
 *     peer  <==SRTP==  its transport <- consumer <- producer <- direct transport <- send(packet)
 *
 * For two bridged paths the worker relays the packets itself, and the right-hand halves are absent:
 *
 *     peer  ==SRTP==>  its transport -> producer -> consumer (relay) -> other transport  ==SRTP==>  other peer
 *
 * The transport is of one kind for SIP peers (sdes-transport.ts), of another for browsers (browser-transport.ts).
 *
 * Four round trips to the worker: open; produce; consume; connect.
 */
import type { types } from 'mediasoup';
import type { Clock } from '#shared/clock.ts';
import type { DroppedPackets } from '../call/media-verdict.ts';
import { type BrowserLost, CallRefused } from '../call/refused.ts';
import { BrowserTransport } from './browser-transport.ts';
import {
  consumerCapabilities,
  producerParameters,
  relayCapabilities,
  type SessionPayloads,
  sendingKey,
} from './payloads.ts';
import type { LocalKeys, PeerTransport } from './peer-transport.ts';
import { Relay } from './relay.ts';
import type { RtpPorts } from './rtp-ports.ts';
import { SdesTransport } from './sdes-transport.ts';
import type { NegotiatedAudio } from './sdp/session.ts';
import type { PacketSender } from './worker-pipe.ts';
import type { MediaWorker } from './worker-pool.ts';

export interface SrtpPathOptions {
  readonly worker: MediaWorker;
  readonly ports: RtpPorts;
  /** Local address to bind. */
  readonly listenIp: string;
  /** To a SIP peer: whether RTP and RTCP use one port (RFC 5761). To a browser they always do. */
  readonly to: { readonly rtcpMux: boolean } | BrowserWatch;
}

/** Of a path to a browser. */
export interface BrowserWatch {
  readonly clock: Clock;
  /** Called at most once, and not after `close`. */
  readonly lost: (error: BrowserLost) => void;
}

/** Gets each authenticated, decrypted RTP packet from the peer; it may have a header extension. */
type Received = (packet: Buffer) => void;

export interface PathStats {
  /** Packets dropped since the path was opened, by reason. */
  readonly dropped: DroppedPackets;
  /** Authentic RTP packets dropped since then because the peer sent too many. */
  readonly beyondRate: number;
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
  /** Of the packets that this process sends over the path. The worker uses another one towards the peer. */
  readonly ssrc: number;
  readonly #options: SrtpPathOptions;
  readonly #transport: PeerTransport;
  #peer: NegotiatedAudio | null = null;
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

  private constructor(options: SrtpPathOptions, port: number, transport: PeerTransport) {
    this.#options = options;
    this.port = port;
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

  /** Our half of the keys for SDP. */
  get keys(): LocalKeys {
    return this.#transport.keys;
  }

  /** The peer of this path, null before `carry`. */
  get peer(): NegotiatedAudio | null {
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
    if (!this.#peer || sendingKey(this.#peer) !== sendingKey(session)) return false;
    return this.#transport.serves(session);
  }

  /** @throws CallRefused when it cannot carry the session of an answer to its offer */
  mustServe(session: NegotiatedAudio): void {
    if (this.serves(session)) return;
    const text = 'The answer moves media or changes keys: offer that in a re-INVITE';
    throw new CallRefused(488, text, text, { kind: 'moved', text });
  }

  /** Takes from a later session that it serves what may change: our half of the keys may then be new. */
  follow(session: NegotiatedAudio): Promise<void> {
    return this.#transport.follow(session);
  }

  /** Audio is due from now on. */
  due(): void {
    this.#transport.due();
  }

  /**
   * Connects to the peer and starts to carry packets, once.
   * @param peer whom to connect to, and the payload types that it wants
   * @param receives the payload types that it sends: ours, if the offer was ours
   * @param received null: the packets stay in the worker, for `relayFrom` of another path
   */
  async carry(peer: NegotiatedAudio, receives: SessionPayloads, received: Received | null): Promise<void> {
    this.#peer = peer;
    this.#receives = receives;
    this.#received = received;
    if (received) this.#sending = this.#send(peer);
    await Promise.all([this.#receive(receives), this.#sending]);
    // Last: from then on the worker takes packets of the peer, and one that has no reader yet is lost.
    await this.#transport.connect(peer);
  }

  /** Makes this process an end of a carried path. The stream that it sent before continues, if the peer hears it. */
  async joinNode(received: Received): Promise<void> {
    const peer = this.#peer;
    if (!peer || this.#closed) return;
    this.#received = received;
    if (!this.#sending) this.#sending = this.#send(peer);
    else if (this.#transport.forgetsStreams) this.#sending = this.#sending.then(() => this.#sendAnew(peer));
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
    const consumer = await this.#transport.worker.consume({
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
    await this.#receive(receives);
  }

  async stats(): Promise<PathStats> {
    const [transport] = await this.#transport.worker.getStats();
    const reportsAboutUs = transport?.rtxBytesSent ?? 0;
    // Before a report about us there are no round trip and no loss, and each question to the worker costs both of us.
    const sent = reportsAboutUs > 0 && !this.#closed ? await this.#outgoingConsumer?.getStats() : undefined;
    const outbound = sent?.find((stat) => stat.type === 'outbound-rtp');
    const roundTrip = outbound && 'roundTripTime' in outbound ? outbound.roundTripTime : undefined;
    // The patched worker reports counts in fields that it does not otherwise use; see worker/patches/.
    const dropped = {
      fromElsewhere: transport?.availableIncomingBitrate ?? 0,
      undecrypted: transport?.availableOutgoingBitrate ?? 0,
      unclaimed: transport?.rtpPacketLossReceived ?? 0,
    };
    const beyondRate = transport?.maxIncomingBitrate ?? 0;
    const rtcpPackets = transport?.rtpPacketLossSent ?? 0;
    const reports = transport?.rtxBytesReceived ?? 0;
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
    return { dropped, beyondRate, rtcpPackets, ...fromReports, lastElsewhere, roundTripMs, peerLoss };
  }

  /** Releases the ports and everything in the worker. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.leaveNode();
    this.#sender?.end();
    this.#outgoing?.close();
    this.#transport.close();
    this.#options.ports.give(this.port);
  }

  /** The producer is on the shared transport, so only the end of this path closes it. */
  async #send(peer: NegotiatedAudio): Promise<void> {
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
    await this.#sendAnew(peer);
  }

  /** Sends what this process produces, under an SSRC that the peer has not heard yet. */
  async #sendAnew(peer: NegotiatedAudio): Promise<void> {
    const producer = this.#outgoing;
    if (!producer || this.#closed) return;
    this.#outgoingConsumer?.close();
    this.#outgoingConsumer = await this.#transport.worker.consume({
      producerId: producer.id,
      rtpCapabilities: consumerCapabilities(peer),
    });
  }

  /** What the peer sends, to this process if that is an end of the path. */
  async #receive(receives: SessionPayloads): Promise<void> {
    this.#incoming = await this.#produce(receives);
    if (this.#received) await this.#listen(this.#received);
  }

  #produce(receives: SessionPayloads): Promise<types.Producer> {
    this.#options.worker.use(receives);
    this.#counted = 0;
    // The worker requires a MID when there is no SSRC, and each must be new to the transport.
    const mid = String(this.#mids++);
    return this.#transport.worker.produce({
      kind: 'audio',
      rtpParameters: producerParameters(receives, { mid }),
    });
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
    this.#options.worker.receive(consumer, (packet) => {
      this.#counted++;
      received(packet);
    });
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

function bind({ worker, listenIp, to }: SrtpPathOptions, port: number): Promise<PeerTransport> {
  const place = { router: worker.router, listenIp, port };
  return 'lost' in to ? BrowserTransport.open({ ...place, ...to }) : SdesTransport.open(place, to.rtcpMux);
}
