/** A PostgreSQL server of the tests' own: Debian's, on a folder of its own, over a socket in that folder. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

export interface PostgresServer {
  /** Of the process whose children serve the connections. */
  readonly pid: number;
  /** Of a database on it; its user may create others. */
  url(database: string): string;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
  /** Ends it without warning and starts it again, as after a loss of power. */
  crash(): Promise<void>;
}

const socketPort = 5432;
const startMs = 60_000;

/** @param durable whether it waits for the disk; without, tests take a third of the time */
export async function startPostgres({ durable = false } = {}): Promise<PostgresServer> {
  const bin = binaries();
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-postgres-'));
  // The server refuses to run as root.
  const user = userInfo().uid === 0 ? postgresUser() : null;
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'trunkline', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C.UTF-8'],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const settings = {
    listen_addresses: `''`,
    unix_socket_directories: `'${folder}'`,
    max_connections: 400,
    shared_buffers: '128MB',
    max_wal_size: '4GB',
    checkpoint_timeout: '1h',
    ...(!durable && {
      autovacuum: 'off',
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
    }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(join(data, 'postgresql.auto.conf'), lines.join(''));
  const start = () =>
    spawn(join(bin, 'postgres'), ['-D', data], {
      ...user,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'ignore'],
    });
  const url = (database: string) =>
    `postgres:///${database}?host=${encodeURIComponent(folder)}&port=${socketPort}&user=trunkline`;
  let server = start();
  const stop = async (signal: NodeJS.Signals) => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  await untilUp(url('postgres'));
  return {
    url,
    get pid() {
      return server.pid ?? 0;
    },
    crash: async () => {
      await stop('SIGKILL');
      server = start();
      // While a process of the former server still lives, a new one ends at once.
      await untilUp(url('postgres'), () => {
        if (server.exitCode !== null) server = start();
      });
    },
    stop: async () => {
      await stop('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The newest of Debian's versions. */
function binaries(): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).map(Number).filter(Number.isFinite) : [];
  if (versions.length === 0) throw new Error('The Debian package postgresql is not installed: npm run setup');
  return join(root, String(Math.max(...versions)), 'bin');
}

function postgresUser(): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** @param missed called after each attempt that failed */
async function untilUp(url: string, missed: () => void = () => undefined): Promise<void> {
  const begun = performance.now();
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (performance.now() - begun > startMs) throw error;
      missed();
      await wait(20);
    }
  }
}
