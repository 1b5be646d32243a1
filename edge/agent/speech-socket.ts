/**
 * The connection to a speech server: opened under a limit, kept alive, watched by pings,
 * and with its key left out of every error.
 */
import type { BlockList } from 'node:net';
import type { WebSocket } from 'ws';
import type { ReadingBudget } from '#outgoing/reading-budget.ts';
import { brokenBy, openWebSocket } from '#outgoing/web-socket.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import { type ResolveHost, systemAddresses } from '#shared/judged-lookup.ts';

/** A speech server of the settings, or of a customer. */
export interface SpeechServer {
  /** http, https, ws or wss */
  readonly url: URL;
  /** null: none is sent */
  readonly apiKey: string | null;
  readonly model: string;
}

export interface SpeechSocketDeps {
  readonly clock: Clock;
  /** PEM of the trusted authorities; absent: Node's. */
  readonly ca?: string | string[] | undefined;
  /** Of a server that a customer has named; absent: the operator has named it, and it may be in a private network. */
  readonly guard?: { readonly allowed: BlockList; readonly resolve: ResolveHost };
  /** Maximum size of a message from the server, octets; default: a minute of sound as base64. */
  readonly maxMessageBytes?: number;
  /** Called each time the server is held back because it sends more than is read. */
  readonly held?: (() => void) | undefined;
}

export interface SpeechSocketEvents {
  /** The socket is open; no message comes before. */
  opened(socket: SpeechSocket): void;
  /** @returns true: it takes the place of a message that is not looked into */
  text(message: string): unknown;
  binary(octets: Buffer): void;
  /**
   * The server closed the socket, or it was lost. Not called after `close`.
   * @param code of the closure (RFC 6455 section 7.4.1); null: there was none
   */
  lost(why: string, code: number | null): void;
  /** Nothing was sent for `idleMs`. */
  idle(): void;
}

/** Time between two looks at the connection, ms: servers close it after ten seconds without a message. */
const idleMs = 4000;
const closeWithinMs = 2000;
/** Maximum size of a message from the server, octets: a minute of sound as base64. */
const maxMessageBytes = 4 * 1_048_576;

interface SpeechSocketParts {
  readonly clock: Clock;
  readonly server: SpeechServer;
  readonly events: SpeechSocketEvents;
  readonly mostBytes: number;
}

export class SpeechSocket {
  readonly #socket: WebSocket;
  readonly #clock: Clock;
  readonly #events: SpeechSocketEvents;
  readonly #budget: ReadingBudget;
  readonly #place: string;
  #timer: Timer | null = null;
  #sentLately = true;
  #pongMissing = false;
  #pingedAt = 0;
  #closed = false;

  constructor(socket: WebSocket, budget: ReadingBudget, parts: SpeechSocketParts) {
    const { clock, server, events, mostBytes } = parts;
    this.#socket = socket;
    this.#budget = budget;
    this.#clock = clock;
    this.#events = events;
    this.#place = placeOf(server.url);
    const lost = (why: string, code: number | null = null) => {
      this.#timer?.cancel();
      if (this.#closed) return;
      this.#closed = true;
      events.lost(`${this.#place} ${why}`, code);
    };
    socket.on('message', (data: Buffer, isBinary) => {
      if (this.#closed) return;
      if (isBinary) events.binary(data);
      else if (events.text(data.toString('utf8')) === true) budget.leftUnread(data.length);
    });
    socket.on('pong', () => {
      this.#pongMissing = false;
    });
    socket.on('error', (error) => {
      const broken = brokenBy(error, mostBytes);
      if (broken) lost(broken.why);
    });
    socket.on('close', (code, reason) => {
      const words = reason.length === 0 ? '' : `: ${withoutKey(reason.toString('utf8'), server)}`;
      lost(`closed the connection (${code}${words})`, code);
    });
    this.#watch();
  }

  /** Octets that the server has not read yet. */
  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Whether the server was held back since `at`, ms on the clock's elapsed time, because it sent more than is read. */
  heldSince(at: number): boolean {
    return this.#budget.heldSince(at);
  }

  /**
   * Why nothing of use came since `at`, with the name of the server.
   * @param otherwise what is said of it unless it was held back
   */
  whySilent(at: number, otherwise: string): string {
    return `${this.#place} ${this.heldSince(at) ? 'sends more than is read' : otherwise}`;
  }

  send(message: string | Uint8Array): void {
    this.#sentLately = true;
    if (!this.#closed) this.#socket.send(message);
  }

  /** @param goodbye the last message; null: none */
  close(goodbye: string | null): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    if (goodbye !== null) this.#socket.send(goodbye);
    this.#socket.close(1000);
  }

  #watch(): void {
    this.#timer = this.#clock.after(idleMs, () => {
      if (this.#pongMissing && !this.#budget.aliveSince(this.#pingedAt)) {
        // Its close event reports the loss.
        this.#socket.terminate();
        return;
      }
      if (!this.#sentLately) this.#events.idle();
      this.#sentLately = false;
      this.#pongMissing = true;
      this.#pingedAt = this.#clock.elapsed();
      this.#socket.ping();
      this.#watch();
    });
  }
}

/**
 * Resolves when the socket is open.
 * @throws Error that names the server, without its key
 */
export async function openSpeechSocket(
  server: SpeechServer,
  url: URL,
  headers: Readonly<Record<string, string>>,
  deps: SpeechSocketDeps,
  events: SpeechSocketEvents,
  signal: AbortSignal,
): Promise<void> {
  const { clock, held = () => {}, maxMessageBytes: mostBytes = maxMessageBytes } = deps;
  const order = {
    url,
    headers,
    protocols: [],
    maxMessageBytes: mostBytes,
    closeWithinMs,
    clock,
    held,
    opened: (socket: WebSocket, budget: ReadingBudget) =>
      events.opened(new SpeechSocket(socket, budget, { clock, server, events, mostBytes })),
  };
  try {
    const { guard = { allowed: null, resolve: systemAddresses }, ca } = deps;
    await openWebSocket(order, { ...guard, ca }, signal);
  } catch (error) {
    signal.throwIfAborted();
    const words = error instanceof Error ? error.message : String(error);
    throw new Error(`${placeOf(server.url)} cannot be used: ${withoutKey(words, server)}`);
  }
}

/** Host and path: a URL's query may hold a key. */
export function placeOf({ host, pathname }: URL): string {
  return `${host}${pathname}`;
}

export function withoutKey(text: string, { apiKey }: SpeechServer): string {
  return apiKey === null ? text : text.replaceAll(apiKey, '***');
}

/**
 * `url` with those of `parameters` that it does not have; the operator's own stay.
 * @param format parameters of the sound, which are ours alone: sound of another format is noise, or of another pitch
 */
export function withParameters(
  url: URL,
  parameters: Readonly<Record<string, string | readonly string[]>>,
  format: Readonly<Record<string, string>> = {},
): URL {
  const full = new URL(url);
  for (const [name, value] of Object.entries(format)) full.searchParams.set(name, value);
  for (const [name, value] of Object.entries(parameters)) {
    if (url.searchParams.has(name)) continue;
    for (const one of [value].flat()) full.searchParams.append(name, one);
  }
  return full;
}
