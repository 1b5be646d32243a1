/**
 * One SRTP session with a peer, from its port pair to Node: what a re-INVITE that moves media or changes keys
 * replaces as a whole, because a worker's transport can be connected only once.
 *
 *     peer  ==SRTP==>  plain transport -> producer -> consumer -> direct transport -> received(packet)
 *     peer  <==SRTP==  plain transport <- consumer <- producer <- direct transport <- send(packet)
 *
 * Packets go to the address of the peer's SDP at once (early media, a peer that waits for us to talk first). The
 * first authenticated packet shows where the peer really is (symmetric RTP, RFC 4961): from then on packets go
 * there, and those from elsewhere are dropped before they touch the SRTP state. RTCP follows in the same way, by
 * itself. A patch of the worker does this; see worker/patches/.
 *
 * Three round trips to the worker: open; connect and produce; consume.
 */
import type { types } from 'mediasoup';
import { CallRefused } from '../call/ports.ts';
import { isDestination } from './media-address.ts';
import { consumerCapabilities, producerParameters, type SessionPayloads } from './payloads.ts';
import type { DroppedPackets } from './quality/report.ts';
import type { RtpPorts } from './rtp-ports.ts';
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
}

export interface PathStats {
  /** Packets that were dropped since the path was opened, by reason. */
  readonly dropped: DroppedPackets;
  /** From the peer's last receiver report, null before one came. */
  readonly roundTripMs: number | null;
}

/** Pairs tried when the system says that a port of ours is taken by somebody else. */
const portAttempts = 8;

export class SrtpPath {
  readonly port: number;
  readonly rtcpMux: boolean;
  readonly #options: SrtpPathOptions;
  readonly #transport: types.PlainTransport;
  #peer: PathPeer | null = null;
  #receives: SessionPayloads | null = null;
  #outgoing: types.Producer | null = null;
  #outgoingConsumer: types.Consumer | null = null;
  #incoming: types.Producer | null = null;
  #mids = 0;
  #closed = false;

  private constructor(options: SrtpPathOptions, port: number, transport: types.PlainTransport) {
    this.#options = options;
    this.port = port;
    this.rtcpMux = options.rtcpMux;
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
        if (options.worker.closed) throw new CallRefused(503, 'the media worker died while the call began');
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

  /** Whom this path serves, null before `carry`. */
  get peer(): PathPeer | null {
    return this.#peer;
  }

  /**
   * Connects to the peer and begins to carry packets, once.
   * @param peer whom to connect to, and the payload types that it wants
   * @param receives the payload types that come from it: ours, where the offer was ours
   * @param ssrc of the packets that will be sent
   * @param received gets each authenticated, decrypted RTP packet of the peer, which may carry a header extension
   */
  async carry(
    peer: PathPeer,
    receives: SessionPayloads,
    ssrc: number,
    received: (packet: Buffer) => void,
  ): Promise<void> {
    this.#peer = peer;
    this.#receives = receives;
    const { worker } = this.#options;
    worker.use(peer);
    const [outgoing, incoming] = await Promise.all([
      worker.direct
        .produce({ kind: 'audio', rtpParameters: producerParameters(peer, { ssrc }) })
        .then((producer) => this.#own(producer)),
      this.#produce(receives),
      this.#connect(peer),
    ]);
    this.#incoming = incoming;
    const [consumer] = await Promise.all([
      this.#transport.consume({ producerId: outgoing.id, rtpCapabilities: consumerCapabilities(peer) }),
      this.#listen(receives, incoming, received),
    ]);
    this.#outgoingConsumer = consumer;
  }

  /** Sends an RTP packet; it is copied before this returns. Without effect before `carry` and after `close`. */
  send(packet: Buffer): void {
    if (this.#outgoing && !this.#outgoing.closed) this.#outgoing.send(packet);
  }

  /**
   * Takes the peer's next SSRC. The worker binds a producer to the first one and drops any later one, so a
   * peer that changes its SSRC in mid-call is heard again only through a new producer.
   */
  async relearn(received: (packet: Buffer) => void): Promise<void> {
    const receives = this.#receives;
    if (!receives || !this.#incoming || this.#closed) return;
    this.#incoming.close();
    this.#incoming = await this.#produce(receives);
    await this.#listen(receives, this.#incoming, received);
  }

  async stats(): Promise<PathStats> {
    const [[transport], sent] = await Promise.all([
      this.#transport.getStats(),
      this.#outgoingConsumer?.getStats(),
    ]);
    const outbound = sent?.find((stat) => stat.type === 'outbound-rtp');
    const roundTrip = outbound && 'roundTripTime' in outbound ? outbound.roundTripTime : undefined;
    // The patched worker counts in fields that it has no other use for; see worker/patches/.
    const dropped = {
      fromElsewhere: transport?.availableIncomingBitrate ?? 0,
      undecrypted: transport?.availableOutgoingBitrate ?? 0,
      unclaimed: transport?.rtpPacketLossReceived ?? 0,
    };
    return { dropped, roundTripMs: roundTrip || null };
  }

  /** Gives back the ports and everything in the worker. Safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#outgoing?.close();
    this.#transport.close();
    this.#options.ports.give(this.port);
  }

  /** The producer stands on the shared transport, so nothing but this path's end closes it. */
  #own(producer: types.Producer): types.Producer {
    if (this.#closed) {
      producer.close();
      throw new Error('the media path was closed while it was set up');
    }
    this.#outgoing = producer;
    return producer;
  }

  #connect(peer: PathPeer): Promise<void> {
    const srtpParameters = { cryptoSuite: 'AES_CM_128_HMAC_SHA1_80', keyBase64: peer.remoteKey } as const;
    const { address, rtpPort, rtcpPort } = peer.remote;
    if (!isDestination(address)) return this.#transport.connect({ srtpParameters });
    const rtcp = this.rtcpMux ? {} : { rtcpPort };
    return this.#transport.connect({ ip: address, port: rtpPort, ...rtcp, srtpParameters });
  }

  #produce(receives: SessionPayloads): Promise<types.Producer> {
    this.#options.worker.use(receives);
    // The worker asks for a MID where there is no SSRC, and each must be new to the transport.
    const mid = String(this.#mids++);
    return this.#transport.produce({ kind: 'audio', rtpParameters: producerParameters(receives, { mid }) });
  }

  async #listen(
    receives: SessionPayloads,
    producer: types.Producer,
    received: (packet: Buffer) => void,
  ): Promise<void> {
    const consumer = await this.#options.worker.direct.consume({
      producerId: producer.id,
      rtpCapabilities: consumerCapabilities(receives),
    });
    consumer.on('rtp', received);
  }
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
