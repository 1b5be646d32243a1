import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, FakeClock, systemClock } from '#shared/clock.ts';
import { createAuthority } from '../test/kit/fakes/certificates.ts';
import { testedFile } from '../test/kit/programs/built-programs.ts';
import { untilClosed } from '../test/kit/until-closed.ts';
import { EngineProcess } from './engine-process.ts';
import { createLog } from './log.ts';

const authority = createAuthority();
const issue = () => authority.issue({ names: ['IP:127.0.0.1'] });
let folder: string;
let port: number;
let lines: string[];
let engine: EngineProcess;
let ready: PromiseWithResolvers<{ host: string; port: number }>;
let unusable: PromiseWithResolvers<void>;
let restarts: number;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'engine-process-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function taken(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function writeCertificate(): string {
  const { cert, key } = issue();
  writeFileSync(join(folder, 'server.crt'), cert);
  writeFileSync(join(folder, 'server.key'), key);
  return cert;
}

beforeEach(async () => {
  const server = await taken();
  port = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  lines = [];
  restarts = 0;
  ready = Promise.withResolvers();
  unusable = Promise.withResolvers();
  writeCertificate();
  engine = newEngine(systemClock);
});

function newEngine(clock: Clock, maxConnections = 2): EngineProcess {
  return new EngineProcess({
    program: testedFile(join(import.meta.dirname, 'engine', 'main.ts')),
    config: {
      tls: { host: '127.0.0.1', port, cert: join(folder, 'server.crt'), key: join(folder, 'server.key') },
      wss: null,
      publicHost: null,
      app: { host: '127.0.0.1', port: 0, secret: 's' },
      clientTls: { ca: null, folder: null },
      hep: null,
      limits: { maxConnections },
    },
    clock,
    log: createLog({ level: 'debug', form: null }, { write: (line) => lines.push(line) }),
    onReady: (app) => ready.resolve(app),
    onRestart: () => restarts++,
    onUnusable: () => unusable.resolve(),
  });
}

afterEach(() => engine.stop());

/** The certificate that the engine presents to a new connection. */
async function shownCertificate(): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, ca: authority.cert });
  await once(socket, 'secureConnect');
  const { raw } = socket.getPeerCertificate();
  socket.destroy();
  return raw.toString('base64');
}

/** The session of a new connection. */
async function newSession(): Promise<Buffer> {
  const socket = connect({ host: '127.0.0.1', port, ca: authority.cert });
  const session = await new Promise<Buffer>((resolve) => socket.once('session', resolve));
  socket.destroy();
  return session;
}

/** Whether the engine resumes a session instead of a full handshake. */
async function resumes(session: Buffer): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, ca: authority.cert, session });
  await once(socket, 'secureConnect');
  const reused = socket.isSessionReused();
  socket.destroy();
  return reused;
}

const plain = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, '');

describe('the embedded engine as a process', () => {
  it('reports where applications connect, and exits on request', async () => {
    engine.start();
    expect((await ready.promise).port).toBeGreaterThan(0);
    const pid = engine.pid ?? 0;
    await engine.stop();
    expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
    expect(restarts).toBe(0);
  });

  it('is restarted when it dies', async () => {
    engine.start();
    await ready.promise;
    ready = Promise.withResolvers();
    const first = engine.pid ?? 0;
    process.kill(first, 'SIGKILL');
    await ready.promise;
    expect(engine.pid).not.toBe(first);
    expect(restarts).toBe(1);
  });

  it('is given up when its port is in use, with a log line', async () => {
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    engine.start();
    await unusable.promise;
    other.close();
    expect(lines.join('')).toContain(`port ${port}`);
  });

  it('reserves room for the sources it was given, also after a restart', async () => {
    engine.know({ org: ['127.0.0.1'] });
    engine.start();
    await ready.promise;
    ready = Promise.withResolvers();
    process.kill(engine.pid ?? 0, 'SIGKILL');
    await ready.promise;
    const open = async (localAddress: string) => {
      const options = { host: '127.0.0.1', port, ca: authority.cert, localAddress };
      const socket = connect(options);
      await once(socket, 'secureConnect');
      return socket;
    };
    const stranger = await open('127.0.0.2');
    const closed = untilClosed(stranger);
    const known = [await open('127.0.0.1'), await open('127.0.0.1')];
    await closed;
    for (const socket of known) socket.destroy();
  });

  it('presents new certificates after a reload', async () => {
    engine.start();
    await ready.promise;
    const before = await shownCertificate();
    const cert = writeCertificate();
    engine.reloadCertificates();
    await expect.poll(() => lines.join('')).toContain('certificates reloaded');
    const after = await shownCertificate();
    expect(after).not.toBe(before);
    expect(plain(cert)).toContain(after);
  });

  it('lets peers resume their TLS sessions after a restart, for a day', async () => {
    const clock = new FakeClock();
    engine = newEngine(clock, 100);
    engine.start();
    await ready.promise;
    const before = await newSession();
    ready = Promise.withResolvers();
    process.kill(engine.pid ?? 0, 'SIGKILL');
    await expect.poll(() => restarts).toBe(1);
    clock.advance(200);
    await ready.promise;
    expect(await resumes(before)).toBe(true);
    clock.advance(24 * 3_600_000);
    await expect.poll(() => resumes(before)).toBe(false);
    expect(await resumes(await newSession())).toBe(true);
  });
});
