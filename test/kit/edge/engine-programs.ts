/** Engines as programs, with a certificate of their own, for the suites of signaling. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#shared/clock.ts';
import { EngineProcess } from '../../../edge/engine-process.ts';
import { createLog } from '../../../edge/log.ts';
import type { EngineAddress } from '../../../edge/signaling/srf/srf.ts';
import { createAuthority } from '../fakes/certificates.ts';
import { testedFile } from '../programs/built-programs.ts';
import { DrachtioProgram } from '../programs/drachtio-program.ts';
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
    program: testedFile(join(root, 'edge', 'engine', 'main.ts')),
    config: {
      tls: { host: '127.0.0.1', port, cert: files.path('server.crt'), key: files.path('server.key') },
      wss: null,
      publicHost: null,
      app: { host: '127.0.0.1', port: 0, secret },
      clientTls: { ca: files.path('ca.crt'), folder: null },
      hep: null,
    },
    clock: systemClock,
    log: createLog({ level: 'silent', form: null }),
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
  const [port, appPort] = [await freeTcpPort(), await freeTcpPort()];
  const server = new DrachtioProgram({
    program,
    folder: files.folder,
    secret,
    sipPort: port,
    appPort,
    hepPort: null,
    wssPort: null,
    tls: files.folder,
  });
  await server.start();
  return {
    port,
    ca: files.ca,
    app: server.app,
    stop: async () => {
      await server.kill();
      files.remove();
    },
  };
}
