import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { createServer, type Server, type Socket } from 'node:net';
import { decodeHep, type HepPacket, HepStream } from '#shared/hep.ts';

/** Receives HEP3 on one loopback port, over TCP (the embedded engine) and over UDP (drachtio-server). */
export class HepListener {
  readonly #server: Server;
  readonly #datagrams: DatagramSocket;
  readonly #streams = new Set<Socket>();
  readonly #onPacket: (packet: HepPacket) => void;

  private constructor(onPacket: (packet: HepPacket) => void) {
    this.#onPacket = onPacket;
    this.#server = createServer((socket) => this.#read(socket));
    this.#datagrams = createSocket('udp4', (bytes) => {
      const packet = decodeHep(bytes);
      if (packet) onPacket(packet);
    });
  }

  /** @param port 0: any free one. @throws Error when the port is taken */
  static async open(host: string, port: number, onPacket: (packet: HepPacket) => void): Promise<HepListener> {
    const listener = new HepListener(onPacket);
    await new Promise<void>((resolve, reject) => {
      listener.#server.once('error', reject);
      listener.#server.listen(port, host, () => resolve());
    });
    await new Promise<void>((resolve, reject) => {
      listener.#datagrams.once('error', reject);
      listener.#datagrams.bind(listener.port, host, () => resolve());
    }).catch((error: unknown) => {
      listener.#server.close();
      throw error;
    });
    return listener;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    for (const socket of this.#streams) socket.destroy();
    await Promise.all([
      new Promise<void>((resolve) => this.#server.close(() => resolve())),
      new Promise<void>((resolve) => this.#datagrams.close(() => resolve())),
    ]);
  }

  #read(socket: Socket): void {
    const stream = new HepStream();
    this.#streams.add(socket);
    socket.on('close', () => this.#streams.delete(socket));
    // A broken capture connection costs trace lines, never a call; the engine connects again.
    socket.on('error', () => socket.destroy());
    socket.on('data', (octets: Buffer) => {
      try {
        for (const packet of stream.push(octets)) this.#onPacket(packet);
      } catch {
        socket.destroy();
      }
    });
  }
}
