import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '#shared/clock.ts';
import { embeddedVersion } from '#shared/engine-protocol/headers.ts';
import { frameRefusals } from '#shared/engine-protocol/refusals.ts';
import { parseAppMessage } from './app-message.ts';
import { AppClient } from './client.ts';
import { SipCommand } from './command.ts';
import { type Frame, FrameReader, FramingError } from './frame.ts';
import { answerLine, type Source, wireTime } from './lines.ts';

/**
 * Applications start their keepalive when they see version 0.8.2 or later; the protocol spoken here is that of
 * 0.9.10.
 */
const VERSION = `v0.9.10${embeddedVersion}`;

export interface PortSettings {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly secret: string;
  /** Octets in one frame; larger ones are rejected. */
  readonly maxFrameBytes: number;
  /** Octets queued for an application that does not read; beyond this, it is disconnected. */
  readonly maxQueuedBytes: number;
  /** Concurrent connections. */
  readonly maxClients: number;
  /** Time from connecting to `authenticate`, in milliseconds. */
  readonly authenticateMs: number;
}

/** What the port needs from the engine. */
export interface PortEvents {
  /** Executes a `sip` frame and answers it with `sent` or `refuse`. */
  execute(command: SipCommand): void;
  /** An application has authenticated. */
  clientCame(): void;
  /** An application has disconnected; its transactions and dialogs no longer have an owner. */
  clientGone(client: AppClient): void;
  /** `proto/host:port` of the SIP listeners, as peers see them and as they are bound. */
  hostports(): { readonly public: string; readonly local: string };
  log(level: 'info' | 'warn' | 'error', message: string, fields?: Record<string, unknown>): void;
}

/** The listener to which applications (drachtio-srf) connect. */
export class DrachtioPort {
  readonly #settings: PortSettings;
  readonly #events: PortEvents;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #clients = new Set<AppClient>();
  readonly #sockets = new Set<Socket>();
  /** Per verb, how often it was assigned: for round robin. */
  readonly #turns = new Map<string, number>();

  constructor(settings: PortSettings, events: PortEvents, clock: Clock) {
    this.#settings = settings;
    this.#events = events;
    this.#clock = clock;
    this.#server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 45_000 }, (socket) =>
      this.#connected(socket),
    );
  }

  get clientCount(): number {
    return this.#clients.size;
  }

  /** @throws Error of the operating system, for example EADDRINUSE */
  async listen(): Promise<{ host: string; port: number }> {
    const { host, port } = this.#settings;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    this.#server.on('error', (error) => this.#events.log('error', `application port: ${error.message}`));
    const address = this.#server.address();
    return { host, port: typeof address === 'object' && address ? address.port : port };
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.end();
    const impatient = this.#clock.after(1_000, () => {
      for (const socket of this.#sockets) socket.destroy();
    });
    await closed;
    impatient.cancel();
  }

  /** The next client in turn among those that route `verb` (lower case); null when none does. */
  pick(verb: string): AppClient | null {
    const candidates: AppClient[] = [];
    for (const client of this.#clients) if (!client.closed && client.routes(verb)) candidates.push(client);
    if (candidates.length === 0) return null;
    const turn = this.#turns.get(verb) ?? 0;
    this.#turns.set(verb, turn + 1);
    return candidates[turn % candidates.length] ?? null;
  }

  /** Reports a call attempt, start or stop to one of the clients that subscribed to it. */
  cdr(kind: 'attempt' | 'start' | 'stop', source: Source, extra: string | null, bytes: Buffer): void {
    const client = this.pick(`cdr:${kind}`);
    if (!client) return;
    const rest = extra === null ? '' : `|${extra}`;
    client.send(`${randomUUID()}|cdr:${kind}|${source}|${wireTime(this.#clock.now())}${rest}`, bytes);
  }

  #connected(socket: Socket): void {
    if (this.#sockets.size >= this.#settings.maxClients) {
      this.#events.log('warn', 'application rejected: too many connections', {
        max: this.#settings.maxClients,
      });
      socket.destroy();
      return;
    }
    const client = new AppClient(socket, this.#settings.maxQueuedBytes);
    const reader = new FrameReader(this.#settings.maxFrameBytes, {
      frame: (frame) => this.#frame(client, frame),
      oversize: (id, bytes) => this.#oversize(client, id, bytes),
    });
    const patience = this.#clock.after(this.#settings.authenticateMs, () => {
      if (!client.authenticated) socket.destroy();
    });
    this.#sockets.add(socket);
    this.#clients.add(client);
    socket.on('data', (chunk) => {
      try {
        reader.push(chunk);
      } catch (error) {
        if (!(error instanceof FramingError)) throw error;
        this.#events.log('warn', `application closed: ${error.message}`);
        socket.destroy();
      }
    });
    socket.on('error', (error) => this.#events.log('warn', `application connection: ${error.message}`));
    socket.on('close', () => {
      patience.cancel();
      client.lost();
      this.#sockets.delete(socket);
      this.#clients.delete(client);
      if (client.authenticated) {
        this.#events.log('info', 'application disconnected');
        this.#events.clientGone(client);
      }
    });
  }

  #oversize(client: AppClient, id: string, bytes: number): void {
    const max = this.#settings.maxFrameBytes;
    this.#events.log('warn', 'frame from the application rejected: too large', { bytes, max });
    client.send(answerLine(id, 'NOK', `frame of ${bytes} octets is larger than the limit of ${max}`));
  }

  #frame(client: AppClient, frame: Frame): void {
    const [id = '', type = ''] = frame.tokens;
    if (!client.authenticated && type !== 'authenticate' && type !== 'ping') {
      client.send(answerLine(id, 'NO', 'authenticate first'));
      client.end();
      return;
    }
    switch (type) {
      case 'sip':
        this.#sip(client, frame);
        break;
      case 'ping':
        client.send(answerLine(id, 'OK', 'pong'));
        break;
      case 'authenticate':
        this.#authenticate(client, id, frame.tokens[2] ?? '');
        break;
      case 'route':
        client.route((frame.tokens[2] ?? '').toLowerCase());
        client.send(answerLine(id, 'OK'));
        break;
      case 'remove_route':
        client.removeRoute((frame.tokens[2] ?? '').toLowerCase());
        client.send(answerLine(id, 'OK'));
        break;
      case 'proxy':
        client.send(answerLine(id, 'NOK', 'this engine does not proxy; use createB2BUA instead'));
        break;
      default:
        client.send(answerLine(id, 'NO', 'Unknown message type'));
        break;
    }
  }

  #authenticate(client: AppClient, id: string, secret: string): void {
    if (!sameSecret(secret, this.#settings.secret)) {
      this.#events.log('warn', 'application rejected: incorrect secret');
      client.send(answerLine(id, 'NO', 'incorrect secret'));
      client.end();
      return;
    }
    client.authenticated = true;
    const hostports = this.#events.hostports();
    this.#events.log('info', 'application connected');
    this.#events.clientCame();
    client.send(answerLine(id, 'OK', hostports.public, VERSION, hostports.local));
  }

  #sip(client: AppClient, frame: Frame): void {
    const [id = ''] = frame.tokens;
    if (frame.tokens.length < 4) {
      client.send(answerLine(id, 'NOK', 'a sip frame needs at least four tokens'));
      return;
    }
    const message = parseAppMessage(frame.sip);
    if (!message) {
      const end = frame.sip.indexOf('\r\n');
      const start = frame.sip.toString('latin1', 0, Math.min(200, end === -1 ? frame.sip.length : end));
      client.send(answerLine(id, 'NOK', `malformed SIP message: ${start}`));
      return;
    }
    const command = new SipCommand(client, frame.tokens, message);
    try {
      this.#events.execute(command);
      if (!command.answered) throw new Error('a frame from the application was not answered');
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      this.#events.log('error', `frame from the application: ${failure.message}`, { stack: failure.stack });
      if (!command.answered) command.refuse(`${frameRefusals.engineFailure}${failure.message}`);
    }
  }
}

/** Compares in constant time, whatever the lengths and the position of the first difference. */
function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text, 'latin1').digest();
  return timingSafeEqual(digest(given), digest(Buffer.from(expected, 'utf8').toString('latin1')));
}
