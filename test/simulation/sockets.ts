/** The sockets and servers of the simulated network, with as much of Node's interface as the programs use. */
import { EventEmitter } from 'node:events';
import { Duplex } from 'node:stream';
import type { Timer } from '#shared/clock.ts';
import type { SimNetwork } from './network.ts';

export class SimSocket extends Duplex {
  readonly network: SimNetwork;
  readonly encrypted = true;
  readonly authorized = true;
  remoteAddress: string;
  remotePort: number;
  localAddress: string;
  localPort: number;
  connecting = false;
  /** The other end, once connected. */
  twin: SimSocket | null = null;
  #arrival = 0;
  #idle: Timer | null = null;

  constructor(network: SimNetwork, local: [string, number], remote: [string, number]) {
    super({ allowHalfOpen: false, emitClose: false });
    this.network = network;
    [this.localAddress, this.localPort] = local;
    [this.remoteAddress, this.remotePort] = remote;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    const send = () => {
      this.network.carry(this, Buffer.from(chunk));
      done();
    };
    if (this.connecting) this.once('connect', send);
    else send();
  }

  override _final(done: (error?: Error) => void): void {
    const send = () => {
      this.network.finish(this);
      done();
    };
    if (this.connecting) this.once('connect', send);
    else send();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#idle?.cancel();
    this.network.cut(this);
    done(error);
    // As in Node, the handle closes after the immediates of the turn that reports the error.
    setImmediate(() => setImmediate(() => this.emit('close', error !== null)));
  }

  /** Earliest arrival of data sent now: not before earlier data. */
  arrival(earliest: number): number {
    this.#arrival = Math.max(this.#arrival, earliest);
    return this.#arrival;
  }

  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  setTimeout(ms: number, listener?: () => void): this {
    this.#idle?.cancel();
    if (listener) this.once('timeout', listener);
    if (ms > 0) this.#idle = this.network.time.after(ms, () => this.emit('timeout'));
    return this;
  }
  address(): { address: string; port: number; family: string } {
    return { address: this.localAddress, port: this.localPort, family: 'IPv4' };
  }
  getPeerCertificate(): object {
    return {};
  }
  destroySoon(): void {
    this.end();
  }
}

export class SimServer extends EventEmitter {
  readonly #network: SimNetwork;
  readonly #open = new Set<SimSocket>();
  #at: [string, number] | null = null;
  #closed: (() => void) | null = null;

  constructor(network: SimNetwork, listener?: (socket: SimSocket) => void) {
    super();
    this.#network = network;
    if (listener) this.on('connection', listener);
  }

  get listening(): boolean {
    return this.#at !== null;
  }

  listen(where: number | { host?: string; port?: number }, ...rest: unknown[]): this {
    const port = typeof where === 'number' ? where : (where.port ?? 0);
    const host = typeof where === 'number' ? String(rest[0] ?? '0.0.0.0') : (where.host ?? '0.0.0.0');
    const ready = rest.findLast((one): one is () => void => typeof one === 'function');
    this.#at = this.#network.listen(host, port, (socket) => {
      this.#open.add(socket);
      socket.once('close', () => {
        this.#open.delete(socket);
        this.#gone();
      });
      this.emit('connection', socket);
    });
    process.nextTick(() => {
      ready?.();
      this.emit('listening');
    });
    return this;
  }

  address(): { address: string; port: number } | null {
    return this.#at && { address: this.#at[0], port: this.#at[1] };
  }

  close(closed: () => void = () => {}): this {
    if (this.#at) this.#network.unlisten(...this.#at);
    this.#at = null;
    this.#closed = closed;
    process.nextTick(() => this.#gone());
    return this;
  }

  unref(): this {
    return this;
  }

  #gone(): void {
    if (!this.#closed || this.#open.size > 0) return;
    const closed = this.#closed;
    this.#closed = null;
    closed();
    this.emit('close');
  }
}
