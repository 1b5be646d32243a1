/**
 * The network between one carrier and the edge. A proxy of TCP and UDP inside the soak, so that it needs no privileges
 * and no kernel modules, and works the same on every machine:
 *
 *     edge <--TLS--> TcpRelay <--TLS--> phones and trunks of the carrier
 *     edge <--SRTP-- carry() -->        their media
 *
 * TCP never loses data: a lost segment arrives after its retransmission, and all that follows waits for it.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Random } from '../simulation/random.ts';

export interface Conditions {
  readonly delayMs: number;
  readonly jitterMs: number;
  /** Share of packets, 0 to 1. */
  readonly loss: number;
  /** Share of datagrams that later ones overtake. */
  readonly reorder: number;
  /** Nothing passes; connections stay open. */
  readonly cut: boolean;
}

export const clear: Conditions = { delayMs: 0, jitterMs: 0, loss: 0, reorder: 0, cut: false };

/** How long a reordered datagram is held back: two packets of audio. */
const overtakenMs = 40;
/** Retransmission time-out of a lost segment (RFC 6298, the minimum of Linux). */
const retransmissionMs = 200;
/** How often a cut link is tried again. */
const retryMs = 200;

export class Link {
  conditions: Conditions = clear;
  readonly #random: Random;
  /** Datagrams that were dropped, and all. */
  dropped = 0;
  carried = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A datagram: arrives now, later or never. */
  carry(deliver: () => void): void {
    const { cut, loss, reorder } = this.conditions;
    this.carried++;
    if (cut || (loss > 0 && this.#random.chance(loss))) {
      this.dropped++;
      return;
    }
    const held = reorder > 0 && this.#random.chance(reorder) ? overtakenMs : 0;
    const delay = this.#delay() + held;
    if (delay < 1) deliver();
    else setTimeout(deliver, delay);
  }

  /** Delay of a TCP segment, ms; null while the link is cut. */
  segmentDelay(): number | null {
    const { cut, loss } = this.conditions;
    if (cut) return null;
    const lost = loss > 0 && this.#random.chance(loss);
    return this.#delay() + (lost ? retransmissionMs : 0);
  }

  #delay(): number {
    const { delayMs, jitterMs } = this.conditions;
    return jitterMs === 0 ? delayMs : delayMs + jitterMs * this.#random.next();
  }
}

interface RelayTarget {
  readonly host: string;
  readonly port: number;
  /** Address from which the target is contacted. */
  readonly from: string;
}

/** Forwards TCP connections over a {@link Link}. */
export class TcpRelay {
  readonly port: number;
  #target: RelayTarget;
  #refusing = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, target: RelayTarget) {
    this.#server = server;
    this.#target = target;
    this.port = (server.address() as AddressInfo).port;
  }

  /** @param host address to listen on */
  static async listen(link: Link, host: string, target: RelayTarget): Promise<TcpRelay> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, host);
    await once(server, 'listening');
    const relay = new TcpRelay(server, target);
    server.on('connection', (near) => relay.#connected(near, link));
    return relay;
  }

  /** Sets the target of later connections. */
  lead(target: RelayTarget): void {
    this.#target = target;
  }

  /** Whether connections are reset, as by a host whose program has ended; existing ones are reset at once. */
  set refusing(refusing: boolean) {
    this.#refusing = refusing;
    if (refusing) for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #connected(near: Socket, link: Link): void {
    if (this.#refusing) {
      near.on('error', () => {});
      near.resetAndDestroy();
      return;
    }
    const target = this.#target;
    const far = connect({
      host: target.host,
      port: target.port,
      localAddress: target.from,
      allowHalfOpen: true,
      noDelay: true,
    });
    near.setNoDelay(true);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.once('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      void forward(one, other, link);
    }
  }
}

/** In order, one chunk at a time; the source waits meanwhile, so that nothing piles up here. */
async function forward(from: Socket, to: Socket, link: Link): Promise<void> {
  try {
    for await (const chunk of from) {
      await passed(link, to);
      if (to.destroyed) return;
      if (!to.write(chunk)) await once(to, 'drain');
    }
    await passed(link, to);
    to.end();
  } catch {
    // A connection that was reset; its other half is destroyed by its own event.
  }
}

async function passed(link: Link, to: Socket): Promise<void> {
  for (;;) {
    const delay = link.segmentDelay();
    if (delay !== null && delay < 1) return;
    await new Promise((resolve) => setTimeout(resolve, delay ?? retryMs));
    if (delay !== null || to.destroyed) return;
  }
}
