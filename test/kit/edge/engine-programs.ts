/** Engines as programs, with a certificate of their own, for the suites of signaling. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#shared/clock.ts';
import { EngineProcess } from '../../../edge/engine-process.ts';
import { createLog } from '../../../edge/log.ts';
import type { EngineAddress } from '../../../edge/signaling/srf/srf.ts';
import { createAuthority } from '../fakes/certificates.ts';
import { eventually } from '../programs/eventually.ts';
import { freeTcpPort } from '../programs/ports.ts';

export interface TlsEngine {
  /** Its SIP port on 127.0.0.1. */
  readonly port: number;
  /** PEM of the authority of its certificate. */
  readonly ca: string;
  readonly app: EngineAddress;
  stop(): Promise<void>;
}

const secret = 'a secret of the test';
const root = join(import.meta.dirname, '..', '..', '..');

/** Files of a certificate for 127.0.0.1, in a folder of their own. */
class Files {
  readonly ca: string;
  readonly folder = mkdtempSync(join(tmpdir(), 'engine-'));

  constructor() {
    const authority = createAuthority();
    const pair = authority.issue({ names: ['IP:127.0.0.1'] });
    this.ca = authority.cert;
    this.write('ca.crt', authority.cert);
    this.write('server.crt', pair.cert);
    this.write('server.key', pair.key);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, text: string): string {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

export async function startEmbeddedEngine(): Promise<TlsEngine> {
  const files = new Files();
  const port = await freeTcpPort();
  const { promise: ready, resolve, reject } = Promise.withResolvers<EngineAddress>();
  const engine = new EngineProcess({
    program: join(root, 'edge', 'engine', 'main.ts'),
    config: {
      tls: { host: '127.0.0.1', port, cert: files.path('server.crt'), key: files.path('server.key') },
      wss: null,
      publicHost: null,
      app: { host: '127.0.0.1', port: 0, secret },
      clientTls: { ca: files.path('ca.crt'), folder: null },
      hep: null,
    },
    clock: systemClock,
    log: createLog('silent'),
    onReady: (app) => resolve({ ...app, secret }),
    onRestart: () => {},
    onUnusable: () => reject(new Error('the engine cannot start')),
  });
  engine.start();
  return {
    port,
    ca: files.ca,
    app: await ready,
    stop: async () => {
      await engine.stop();
      files.remove();
    },
  };
}

/** @param program path of a drachtio-server; it runs with the configuration that docs/engines.md tells to use */
export async function startDrachtioServer(program: string): Promise<TlsEngine> {
  const files = new Files();
  const [port, adminPort] = [await freeTcpPort(), await freeTcpPort()];
  const configuration = readFileSync(join(root, 'deploy', 'drachtio.conf.xml'), 'utf8')
    .replaceAll('"SECRET"', `"${secret}"`)
    .replaceAll('"9022"', `"${adminPort}"`)
    .replaceAll('PUBLIC_ADDRESS', '127.0.0.1')
    .replaceAll('PUBLIC_NAME', 'localhost')
    .replaceAll('sips:*:5061', `sips:127.0.0.1:${port}`)
    .replaceAll('/var/lib/trunkline/tls', files.folder);
  const child = spawn(program, ['--file', files.write('drachtio.conf.xml', configuration)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await eventually('drachtio-server to listen', async () => {
    if (child.exitCode !== null) throw new Error(`drachtio-server ended with ${child.exitCode}`);
    return (await listens(port)) && (await listens(adminPort)) ? true : null;
  });
  return {
    port,
    ca: files.ca,
    app: { host: '127.0.0.1', port: adminPort, secret },
    stop: async () => {
      await ended(child);
      files.remove();
    },
  };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
