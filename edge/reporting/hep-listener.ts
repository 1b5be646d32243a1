import { timingSafeEqual } from 'node:crypto';
import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { decodeHep, type HepPacket, HepStream } from '#shared/hep.ts';

/** Time for a connection to send the key, ms. */
const keyWithinMs = 5_000;
/** Maximum connections without the key so far; the oldest is dropped. */
const maxUnknown = 64;

/** Receive buffer for datagrams, octets: at 300 calls/s the kernel's usual one lost 10 to 40 % of the copies. */
export const datagramBuffer = 4_194_304;

export interface HepListenerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /**
   * Key required in every copy. null: a foreign engine without a key (drachtio-server has no setting for one), which
   * sends its copies over UDP.
   */
  readonly key: string | null;
  /** Receive buffer for datagrams to ask for, octets. */
  readonly datagramOctets?: number;
}

/** Receives HEP3: over TCP with a key from the embedded engine, over UDP and TCP without one from another engine. */
export class HepListener {
  /** Copies and connections rejected: without the key, or not HEP3. */
  refused = 0;
  readonly #server: Server;
  readonly #datagrams: DatagramSocket | null;
  readonly #streams = new Set<Socket>();
  readonly #unknown = new Set<Socket>();
  readonly #onPacket: (packet: HepPacket) => void;
  readonly #key: Buffer | null;
  readonly #wanted: number;

  private constructor(key: string | null, wanted: number, onPacket: (packet: HepPacket) => void) {
    this.#onPacket = onPacket;
    this.#wanted = wanted;
    this.#key = key === null ? null : Buffer.from(key);
    this.#server = createServer((socket) => this.#read(socket));
    this.#datagrams = key === null ? createSocket('udp4', (bytes) => this.#datagram(bytes)) : null;
  }

  /** @throws Error when the port is taken */
  static async open(
    { host, port, key, datagramOctets = datagramBuffer }: HepListenerOptions,
    onPacket: (packet: HepPacket) => void,
  ): Promise<HepListener> {
    const listener = new HepListener(key, datagramOctets, onPacket);
    await new Promise<void>((resolve, reject) => {
      listener.#server.once('error', reject);
      listener.#server.listen(port, host, () => resolve());
    });
    await listener.#bind(host).catch((error: unknown) => {
      listener.#server.close();
      throw error;
    });
    return listener;
  }

  /** The receive buffer for datagrams, octets, if the kernel gives less than was asked for; else null. */
  get smallBuffer(): { readonly octets: number; readonly wanted: number } | null {
    const size = this.#datagrams?.getRecvBufferSize();
    if (size === undefined) return null;
    // Linux doubles what it gives, for its own needs, and reports the double (socket(7), SO_RCVBUF).
    const octets = process.platform === 'linux' ? size / 2 : size;
    return octets < this.#wanted ? { octets, wanted: this.#wanted } : null;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    for (const socket of this.#streams) socket.destroy();
    await Promise.all([
      new Promise<void>((resolve) => this.#server.close(() => resolve())),
      new Promise<void>((resolve) => (this.#datagrams ? this.#datagrams.close(() => resolve()) : resolve())),
    ]);
  }

  async #bind(host: string): Promise<void> {
    const datagrams = this.#datagrams;
    if (!datagrams) return;
    await new Promise<void>((resolve, reject) => {
      datagrams.once('error', reject);
      datagrams.bind(this.port, host, () => resolve());
    });
    // Linux cuts this to net.core.rmem_max.
    datagrams.setRecvBufferSize(this.#wanted);
  }

  #datagram(bytes: Buffer): void {
    const packet = decodeHep(bytes);
    if (packet) this.#onPacket(packet);
    else this.refused += 1;
  }

  /** Compares keys of the right length in constant time: the length is not secret. */
  #admits(key: Buffer | null): boolean {
    if (this.#key === null) return true;
    return key?.length === this.#key.length && timingSafeEqual(key, this.#key);
  }

  #read(socket: Socket): void {
    let wrongKey = false;
    const stream = new HepStream((key) => {
      const admitted = this.#admits(key);
      if (admitted) this.#known(socket);
      wrongKey ||= !admitted;
      return admitted;
    });
    this.#streams.add(socket);
    this.#watch(socket);
    socket.on('close', () => {
      this.#streams.delete(socket);
      this.#unknown.delete(socket);
    });
    // A broken capture connection loses trace lines, never a call; the engine reconnects.
    socket.on('error', () => socket.destroy());
    socket.on('data', (octets: Buffer) => {
      try {
        for (const packet of stream.push(octets)) this.#onPacket(packet);
        if (wrongKey) this.#refuse(socket);
      } catch {
        this.#refuse(socket);
      }
    });
  }

  #watch(socket: Socket): void {
    if (this.#key === null) return;
    this.#unknown.add(socket);
    socket.setTimeout(keyWithinMs, () => this.#refuse(socket));
    const [oldest] = this.#unknown;
    if (oldest && this.#unknown.size > maxUnknown) this.#refuse(oldest);
  }

  #known(socket: Socket): void {
    if (this.#unknown.delete(socket)) socket.setTimeout(0);
  }

  #refuse(socket: Socket): void {
    if (socket.destroyed) return;
    this.refused += 1;
    this.#unknown.delete(socket);
    socket.destroy();
  }
}
