/** A real drachtio-server for signaling.bench.ts, with a minimal configuration. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface DrachtioOptions {
  readonly program: string;
  readonly folder: string;
  readonly sipPort: number;
  readonly appPort: number;
  readonly secret: string;
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** Resolves when it takes applications. @throws Error when it ends early */
export async function startDrachtio(options: DrachtioOptions): Promise<ChildProcess> {
  const file = join(options.folder, 'drachtio.conf.xml');
  writeFileSync(file, configurationOf(options));
  const server = spawn(options.program, ['--file', file], { cwd: options.folder, stdio: 'ignore' });
  while (!(await answers(options.appPort))) {
    if (server.exitCode !== null) throw new Error(`drachtio-server ended early (${server.exitCode})`);
    await pause(100);
  }
  return server;
}

export async function stopDrachtio(server: ChildProcess): Promise<void> {
  const gone = once(server, 'exit');
  server.kill();
  await gone;
}

async function answers(port: number): Promise<boolean> {
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

function configurationOf({ sipPort, appPort, secret, cert, key, ca }: DrachtioOptions): string {
  return `<drachtio>
  <admin port="${appPort}" secret="${secret}">127.0.0.1</admin>
  <sip>
    <contacts><contact>sips:127.0.0.1:${sipPort};transport=tls</contact></contacts>
    <tls>
      <key-file>${key}</key-file><cert-file>${cert}</cert-file><chain-file>${ca}</chain-file>
      <min-tls-version>1.2</min-tls-version>
    </tls>
  </sip>
  <cdrs>false</cdrs>
  <logging><console/><loglevel>warning</loglevel><sofia-loglevel>1</sofia-loglevel></logging>
</drachtio>
`;
}
