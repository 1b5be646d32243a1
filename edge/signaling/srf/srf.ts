/**
 * The parts of drachtio-srf that we use, typed according to its source. Its connection, framing, parsing and
 * transactions are used; its Dialog class is not. That class sends the 200 to a BYE before the application sees
 * it and answers methods that we reject. It is also delivered by a promise, so that a BYE in the same TCP chunk
 * as the echo of our 200 is handled while the caller of createUAS still waits. Here a dialog is registered in the
 * callback that delivers the echo (dialogs.ts), so nothing can come in between.
 */
import { EventEmitter } from 'node:events';
import { Server, type Socket } from 'node:net';
import Srf from 'drachtio-srf';
import { counted } from '#shared/counted.ts';
import { embeddedVersion } from '#shared/engine-protocol/headers.ts';
import { frameRefusals } from '#shared/engine-protocol/refusals.ts';
import { EnginePulse, pingEveryMs } from './engine-pulse.ts';
import { EngineSocket, type FrameTooLong } from './engine-socket.ts';

export interface SrfRequest {
  readonly method: string;
  readonly uri: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  /** `application` for requests that the engine made in a dialog of ours. */
  readonly source: 'network' | 'application';
  readonly source_address: string;
  readonly source_port: number;
  /** The transport that it came over: `tls` or `wss`. */
  readonly protocol: string;
  readonly stackDialogId: string | undefined;
  readonly agent: SrfAgent;
  readonly socket: Socket;
  /** Cancels an INVITE of ours. */
  cancel(options: { headers: Record<string, string> }, sent: (error: unknown) => void): void;
  /** `cancel`: the CANCEL from the caller or the engine. */
  on(event: 'cancel', listener: (cancel: { get(name: string): string | undefined }) => void): this;
  on(event: 'update', listener: (request: SrfRequest, response: SrfResponse) => void): this;
  on(event: 'response', listener: (response: SrfAnswer, ack: Acknowledge) => void): this;
}

/** A response for us to send. */
export interface SrfResponse {
  /** Set once its echo has been received. */
  readonly stackDialogId: string | undefined;
  readonly finalResponseSent: boolean;
  send(status: number, options: SendOptions, sent?: Sent): void;
  send(status: number, reason: string, options: SendOptions, sent?: Sent): void;
}

/** Gets the response as sent on the wire, or why it was not sent. */
export type Sent = (error: unknown, echo?: { readonly headers: Record<string, string> }) => void;

interface SendOptions {
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends the ACK of a 2xx, or the PRACK of a reliable response. `sent` is called if the engine rejects it. */
export type Acknowledge = (options?: SendOptions, sent?: (error: unknown) => void) => void;

/** A response that we received. */
export interface SrfAnswer {
  readonly status: number;
  readonly reason: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  /** Empty when the engine made the response itself, because none can arrive. */
  readonly source_address: string;
}

/** Gets a request as sent on the wire, or why it was not sent. */
export type RequestSent = (error: unknown, request?: SrfRequest) => void;

/** A request outside a dialog. */
export interface NewRequest {
  readonly method: 'INVITE' | 'OPTIONS' | 'REGISTER';
  readonly uri: string;
  /** URI of the next hop; absent: taken from `uri`. */
  readonly proxy?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface SrfAgent {
  request(
    options: {
      method: string;
      stackDialogId: string;
      headers: Record<string, string>;
      body?: string;
      _socket: Socket;
    },
    sent: RequestSent,
  ): void;
  readonly mapServer: Map<Socket, { readonly pendingNetworkInvites: Map<string, unknown> }>;
}

export type SrfHandler = (request: SrfRequest, response: SrfResponse) => void;

export interface SrfConnection {
  /** Closes the connection; no effect when there is none. */
  close(): void;
  /** Sends a request outside a dialog. `sent` may be called before this returns. */
  request(request: NewRequest, sent: RequestSent): void;
}

/** The methods of requests outside dialogs that are delivered to us; the engine answers all others itself. */
const routed = [
  'invite',
  'options',
  'register',
  'subscribe',
  'notify',
  'refer',
  'message',
  'info',
  'publish',
  'update',
];

export interface EngineAddress {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
}

/** The parts of drachtio-srf used here: its own types lack `close`, and requests other than those of a dialog. */
interface SrfApplication {
  use(method: string, handler: SrfHandler): void;
  request(uri: string, request: NewRequest, sent: RequestSent): void;
  on(
    event: 'connect',
    listener: (error: Error | null, hostports: string | undefined, version: string | undefined) => void,
  ): this;
  on(event: 'close', listener: () => void): this;
  listen(options: object): unknown;
}

function newApplication(): SrfApplication {
  const application: object = new Srf();
  if (!isApplication(application)) throw new TypeError('drachtio-srf creates no application');
  return application;
}

function isApplication(value: object): value is SrfApplication {
  return value instanceof EventEmitter && 'use' in value && 'request' in value && 'listen' in value;
}

/** The emitter whose `msg` events drachtio-srf takes for frames of the engine; it exists from `listen` on. */
function framesOf(application: object): EventEmitter | null {
  let part: unknown = application;
  for (const name of ['_app', 'client', 'wp']) {
    if ((typeof part !== 'object' && typeof part !== 'function') || part === null) return null;
    part = Reflect.get(part, name);
  }
  return part instanceof EventEmitter ? part : null;
}

export interface ConnectedEngine {
  /** Its listeners, such as `tls/192.0.2.1:5061`. */
  readonly sipAddresses: readonly string[];
  readonly version: string;
  /** Otherwise it is a drachtio-server (docs/engines.md). */
  readonly embedded: boolean;
}

export interface SrfOptions {
  /** Whether requests outside dialogs are delivered to us. Default: they are. */
  readonly routes?: boolean;
  /** Time between two pings, ms. */
  readonly pingMs?: number;
  /** A frame was not sent, because a drachtio-server cannot take it; what sent it gets an error. */
  readonly tooLong?: (octets: number) => void;
}

/**
 * Opens one connection to an engine. It is not reopened when it breaks: `gone` is called once, and the caller
 * opens a new one.
 * @param handle receives every request; must not throw
 */
export function openSrf(
  { host, port, secret }: EngineAddress,
  handle: SrfHandler,
  up: (engine: ConnectedEngine) => void,
  gone: (cause: Error | null) => void,
  { routes = true, pingMs = pingEveryMs, tooLong = () => {} }: SrfOptions = {},
): SrfConnection {
  const srf = newApplication();
  let over = false;
  const end = (cause: Error | null): void => {
    if (over) return;
    over = true;
    pulse.stop();
    socket.destroy();
    gone(cause);
  };
  // drachtio-srf expects the answer after it has sent the frame.
  const refuse = ({ id, octets }: FrameTooLong): void => {
    tooLong(octets);
    const answer = `${id}|response|${id}|NOK|${frameRefusals.frameTooLong}: ${counted(octets, 'octet')}`;
    setImmediate(() => framesOf(srf)?.emit('msg', socket, answer));
  };
  // drachtio-srf takes sockets from a server as well as making its own. So the socket is ours: it gathers writes.
  const server = new Server();
  const engine = new EngineSocket(host, port, refuse);
  const { socket } = engine;
  const pulse = new EnginePulse(socket, pingMs, () => end(new Error('the engine does not answer')));
  socket.on('error', end);
  srf.use('*', handle);
  if (routes) for (const method of routed.slice(0, -1)) srf.use(method, handle);
  srf.on('connect', (error, hostports, version) => {
    if (over) return;
    if (error) return end(error);
    pulse.authenticated();
    const embedded = version?.endsWith(embeddedVersion) ?? false;
    if (embedded) engine.embedded();
    // On a connection from a server, all routes are sent when one more is added.
    if (routes) for (const method of routed.slice(-1)) srf.use(method, handle);
    const sipAddresses = (hostports ?? '').split(',').filter((entry) => entry !== '');
    socket.write('', () => {
      if (!over) up({ sipAddresses, version: version ?? '', embedded });
    });
  });
  socket.on('close', () => end(null));
  srf.listen({ server, secret });
  socket.on('connect', () => server.emit('connection', socket));
  return {
    close: () => {
      over = true;
      pulse.stop();
      engine.leave();
    },
    request: (request, sent) => {
      try {
        srf.request(request.uri, { ...request, headers: { ...request.headers } }, sent);
      } catch (error) {
        // drachtio-srf has lost its connection and asserts that it has one.
        sent(error);
      }
    },
  };
}

/**
 * Forgets an INVITE that will get no answer. drachtio-srf keeps each until its final response, so not answering a
 * scanner would otherwise be a leak.
 */
export function forgetInvite(request: SrfRequest): void {
  const callId = request.headers['call-id'];
  if (callId !== undefined) request.agent.mapServer.get(request.socket)?.pendingNetworkInvites.delete(callId);
}
