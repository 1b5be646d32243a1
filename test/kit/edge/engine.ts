/** Engines as separate programs, and applications on drachtio-srf, for tests. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Srf from 'drachtio-srf';
import type { SourcesByOwner } from '#shared/engine-protocol/lines.ts';
import { createAuthority } from '../fakes/certificates.ts';
import { builtProgram } from '../programs/built-programs.ts';

export const SECRET = 'a secret';

const program = join(import.meta.dirname, '..', '..', '..', 'edge', 'engine', 'main.ts');

/** Files of one certificate authority and one server certificate for 127.0.0.1, in a separate directory. */
export class TestCertificates {
  readonly directory = mkdtempSync(join(tmpdir(), 'engine-test-'));
  readonly ca: string;
  readonly caPath = join(this.directory, 'ca.pem');
  readonly cert = join(this.directory, 'cert.pem');
  readonly key = join(this.directory, 'key.pem');

  constructor() {
    const authority = createAuthority();
    const server = authority.issue({ names: ['IP:127.0.0.1', 'DNS:localhost'] });
    this.ca = authority.cert;
    writeFileSync(this.caPath, authority.cert);
    writeFileSync(this.cert, server.cert);
    writeFileSync(this.key, server.key);
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export interface EngineEvent {
  readonly event: string;
  readonly [name: string]: unknown;
}

/** The embedded engine as a child process. */
export class EngineProgram {
  readonly child: ChildProcessWithoutNullStreams;
  readonly events: EngineEvent[] = [];
  readonly exit: Promise<number | null>;
  sipPort = 0;
  appPort = 0;

  private constructor() {
    const { file, compiled } = builtProgram(program);
    const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
    this.child = spawn(process.execPath, [file], { stdio: 'pipe', env });
    this.child.stderr.on('data', (chunk: Buffer) =>
      this.events.push({ event: 'stderr', text: chunk.toString() }),
    );
    this.exit = new Promise((resolve) => this.child.once('exit', (code) => resolve(code)));
  }

  /** Starts an engine and waits until it listens. */
  static async start(
    certificates: TestCertificates,
    changes: Record<string, unknown> = {},
  ): Promise<EngineProgram> {
    const engine = new EngineProgram();
    const ready = new Promise<EngineEvent>((resolve, reject) => {
      createInterface({ input: engine.child.stdout }).on('line', (line) => {
        const event: EngineEvent = JSON.parse(line);
        engine.events.push(event);
        if (event.event === 'ready') resolve(event);
      });
      engine.exit.then((code) => reject(new Error(`exit ${code}: ${JSON.stringify(engine.events)}`)));
    });
    engine.child.stdin.write(`${JSON.stringify({ ...engineConfiguration(certificates), ...changes })}\n`);
    engine.know({ org: ['127.0.0.1'] });
    const { tls, app } = await ready;
    engine.sipPort = portOf(tls);
    engine.appPort = portOf(app);
    return engine;
  }

  /** Sets the engine's known sources. */
  know(sources: SourcesByOwner): void {
    this.child.stdin.write(`${JSON.stringify({ command: 'sources', sources })}\n`);
  }

  /** Waits for a log line with this message or reason. */
  async logged(text: string): Promise<EngineEvent> {
    for (;;) {
      const found = this.events.find(({ message, reason }) => message === text || reason === text);
      if (found) return found;
      await once(this.child.stdout, 'data');
    }
  }

  /** Closes its stdin and waits for it to exit. @returns the exit code */
  stop(): Promise<number | null> {
    this.child.stdin.end();
    return this.exit;
  }

  /** Errors that it logged or wrote: none, unless the test provokes them. */
  get complaints(): EngineEvent[] {
    return this.events.filter((event) => event.event === 'stderr' || event.level === 'error');
  }
}

export function engineConfiguration(certificates: TestCertificates): Record<string, unknown> {
  return {
    tls: { host: '127.0.0.1', port: 0, cert: certificates.cert, key: certificates.key },
    wss: null,
    publicHost: null,
    app: { host: '127.0.0.1', port: 0, secret: SECRET },
    clientTls: { ca: certificates.caPath, folder: null },
    hep: null,
    limits: {},
  };
}

function portOf(address: unknown): number {
  if (typeof address !== 'object' || address === null || !('port' in address)) throw new Error('no port');
  return Number(address.port);
}

/** The parts of drachtio-srf that tests use; its own types omit most of them. */
export interface AppRequest extends EventEmitter {
  readonly method: string;
  readonly uri: string;
  readonly body: string;
  readonly source: string;
  readonly source_address: string;
  readonly receivedOn: string;
  readonly stackDialogId: string;
  readonly callingNumber: string;
  get(name: string): string;
  has(name: string): boolean;
  cancel(callback?: (error: unknown, request: AppRequest) => void): void;
  proxy(options: object): Promise<unknown>;
}
export interface AppResponse {
  readonly status: number;
  readonly reason: string;
  readonly body: string;
  get(name: string): string;
  has(name: string): boolean;
  send(
    status: number,
    options?: { headers?: Record<string, string>; body?: string },
    sent?: (error: unknown, response: AppResponse) => void,
    acknowledged?: (request: AppRequest) => void,
  ): void;
}
export interface AppDialog extends EventEmitter {
  readonly id: string;
  /** The response to the INVITE; only of a caller. */
  readonly res: AppResponse;
  readonly sip: { readonly callId: string; readonly localTag: string; readonly remoteTag: string };
  readonly remote: { readonly uri: string; readonly sdp: string };
  readonly local: { readonly uri: string; readonly sdp: string };
  destroy(options?: { headers?: Record<string, string> }): Promise<AppRequest>;
  modify(sdp: string, options?: object): Promise<string>;
  request(options: { method: string; headers?: Record<string, string>; body?: string }): Promise<AppResponse>;
}
/** An answered INVITE without an offer, before its ACK. */
interface PendingDialog {
  readonly sdp: string;
  ack(sdp: string): Promise<AppDialog>;
}
type AppHandler = (request: AppRequest, response: AppResponse) => void;
interface AppProgress {
  cbRequest?(error: unknown, request: AppRequest): void;
  cbProvisional?(response: AppResponse): void;
}
export interface App extends EventEmitter {
  invite(handler: AppHandler): void;
  options(handler: AppHandler): void;
  subscribe(handler: AppHandler): void;
  use(method: string, handler: AppHandler): void;
  connect(options: object): Promise<unknown>;
  disconnect(): void;
  createUAS(request: AppRequest, response: AppResponse, options: object): Promise<AppDialog>;
  createUAC(uri: string, options: { readonly noAck: true }): Promise<PendingDialog>;
  createUAC(uri: string, options: object, progress?: AppProgress): Promise<AppDialog>;
  createB2BUA(
    request: AppRequest,
    response: AppResponse,
    uri: string,
    options: object,
  ): Promise<{ uas: AppDialog; uac: AppDialog }>;
  request(uri: string, options: object, sent: (error: unknown, request?: AppRequest) => void): void;
}

const connectedApps = new Set<App>();

export function newApp(): App {
  const app: object = new Srf();
  if (!isApp(app)) throw new TypeError('drachtio-srf creates no application');
  return app;
}

function isApp(value: object): value is App {
  return (
    value instanceof EventEmitter && 'createUAC' in value && 'createB2BUA' in value && 'request' in value
  );
}

/**
 * Connects an application to an engine; resolves when the engine gives it requests. It has said which ones it wants when it is
 * authenticated, but on a loaded machine a call may overtake that on another connection, and would get 503. What the
 * engine answers on the same connection comes after it: here that it cannot send a request.
 */
export async function connectApp(engine: Pick<EngineProgram, 'appPort'>, app: App = newApp()): Promise<App> {
  const connected = new Promise<void>((resolve, reject) => {
    app.once('connect', (error: Error | null) => (error ? reject(error) : resolve()));
  });
  app.on('error', () => {});
  app.connect({ host: '127.0.0.1', port: engine.appPort, secret: SECRET });
  await connected;
  await new Promise<void>((resolve) => {
    app.request('sip:nobody@127.0.0.1:1;transport=udp', { method: 'OPTIONS' }, () => resolve());
  });
  connectedApps.add(app);
  return app;
}

/** Disconnects an application, if it is connected. */
export async function leave(app: App): Promise<void> {
  if (!connectedApps.delete(app)) return;
  const closed = new Promise((resolve) => app.once('close', resolve));
  app.disconnect();
  await closed;
}

/**
 * The final response to a request from an application. The listener is attached in the callback that delivers the
 * request: a promise would resolve too late for a response that is read together with the echo.
 */
export function responseTo(app: App, uri: string, options: object): Promise<AppResponse> {
  return new Promise((resolve, reject) => {
    app.request(uri, options, (error, request) => {
      if (error || !request) reject(error);
      else request.on('response', (response: AppResponse) => response.status >= 200 && resolve(response));
    });
  });
}
