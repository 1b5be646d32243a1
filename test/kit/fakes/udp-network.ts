/**
 * A network between a peer and the edge: forwards RTP and RTCP, drops packets as configured, and can change the peer's
 * source address, as a NAT whose mapping expired.
 *
 *     edge <--- outside pair [ network ] inside pair ---> peer
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

type Kind = 'rtp' | 'rtcp';

export interface Drops {
  /** Decides whether to drop each packet; absent: none is dropped. */
  toPeer?: ((kind: Kind) => boolean) | undefined;
  toEdge?: ((kind: Kind) => boolean) | undefined;
}

interface Pair {
  readonly rtp: Socket;
  readonly rtcp: Socket;
}

const host = '127.0.0.1';

export class UdpNetwork {
  readonly drops: Drops = {};
  readonly #peer: number;
  #edge = 0;
  readonly #inside: Pair;
  #outside: Pair;

  private constructor(peer: number, inside: Pair, outside: Pair) {
    this.#peer = peer;
    this.#inside = inside;
    this.#outside = outside;
    for (const kind of ['rtp', 'rtcp'] as const) {
      inside[kind].on('message', (packet) => this.#toEdge(kind, packet));
    }
    this.#listenOutside();
  }

  /** @param peer RTP port of the peer, RTCP on the next one */
  static async open(peer: number): Promise<UdpNetwork> {
    return new UdpNetwork(peer, await openPair(), await openPair());
  }

  /** The peer's SDP as the edge gets it. */
  offered(sdp: string): string {
    return withPort(sdp, this.place);
  }

  /** The edge's SDP as the peer gets it. */
  answered(sdp: string): string {
    this.#edge = Number(/^m=audio (\d+) /m.exec(sdp)?.[1]);
    return withPort(sdp, this.#inside.rtp.address().port);
  }

  /** RTP source port as the edge sees it. */
  get place(): number {
    return this.#outside.rtp.address().port;
  }

  /** From now on packets of the peer come from another address. */
  async move(): Promise<void> {
    const old = this.#outside;
    this.#outside = await openPair();
    this.#listenOutside();
    closePair(old);
  }

  close(): void {
    closePair(this.#inside);
    closePair(this.#outside);
  }

  #listenOutside(): void {
    for (const kind of ['rtp', 'rtcp'] as const) {
      this.#outside[kind].on('message', (packet) => {
        if (this.drops.toPeer?.(kind)) return;
        this.#inside[kind].send(packet, this.#peer + (kind === 'rtp' ? 0 : 1), host);
      });
    }
  }

  #toEdge(kind: Kind, packet: Buffer): void {
    if (this.drops.toEdge?.(kind)) return;
    this.#outside[kind].send(packet, this.#edge + (kind === 'rtp' ? 0 : 1), host);
  }
}

function withPort(sdp: string, port: number): string {
  return sdp.replace(/^m=audio \d+ /m, `m=audio ${port} `);
}

/** RTP on a free port, RTCP on the next one. */
async function openPair(): Promise<Pair> {
  for (;;) {
    const rtp = await bound(0);
    const rtcp = rtp && (await bound(rtp.address().port + 1));
    if (rtp && rtcp) return { rtp, rtcp };
    rtp?.close();
  }
}

async function bound(port: number): Promise<Socket | null> {
  const socket = createSocket('udp4');
  try {
    socket.bind(port, host);
    await once(socket, 'listening');
    return socket;
  } catch {
    socket.close();
    return null;
  }
}

function closePair({ rtp, rtcp }: Pair): void {
  rtp.close();
  rtcp.close();
}
