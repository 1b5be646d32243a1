import { execFile } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import SqliteFile from 'better-sqlite3';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callRecord, connectEdge, reportFrame } from '../../test/kit/control/edge-client.ts';
import { listenOnce } from '../../test/kit/control/harness.ts';
import { writeEmptyFile } from '../../test/kit/db/empty-file.ts';
import { builtProgram } from '../../test/kit/programs/built-programs.ts';
import { type ControlApp, createApp } from '../app.ts';
import { type Bootstrap, bootstrap } from '../bootstrap.ts';
import { holdDataFolder } from '../db/index.ts';
import { readControlConfig } from '../settings/config.ts';
import { restoredInto } from './restore.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'backup-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const at = (...names: string[]) => join(root, ...names);

async function start(folder: string): Promise<{ control: ControlApp; made: Bootstrap }> {
  const env = { TRUNKLINE_DATA: at(folder), LOG_LEVEL: 'silent', RATE_LIMIT_PER_MINUTE: '1000000' };
  const config = readControlConfig(env);
  if (!existsSync(config.database)) await writeEmptyFile(config.database);
  const control = await createApp({ config, logger: pino({ level: 'silent' }), checkAnswers: true });
  await control.begin();
  return { control, made: await bootstrap(control.services, 'ca.crt') };
}

async function get({ app }: ControlApp, url: string, key: string): Promise<unknown> {
  const answer = await app.inject({ url, headers: { authorization: key } });
  expect(answer.statusCode).toBe(200);
  return answer.json();
}

/** One of the programs. Resolves to its output, or rejects with its errors. */
async function run(
  program: 'backup' | 'restore',
  folder: string,
  args: string[],
  more: NodeJS.ProcessEnv = {},
) {
  const { file, compiled } = builtProgram(join(import.meta.dirname, '..', `${program}.ts`));
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: compiled,
    NODE_NO_WARNINGS: '1',
    TRUNKLINE_DATA: at(folder),
    ...more,
  };
  try {
    return (await promisify(execFile)(process.execPath, [file, ...args], { env })).stdout;
  } catch (error) {
    throw new Error(error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error));
  }
}

const passphrase = { BACKUP_PASSPHRASE: 'correct horse battery staple' };

describe('a backup without a name', () => {
  it('is written to a new folder in the data folder, not in the current directory', async () => {
    const { control } = await start('data');
    await control.close();
    const before = readdirSync(process.cwd());
    const told = await run('backup', 'data', []);
    const [made = ''] = readdirSync(at('data', 'backups'));
    expect(made).toMatch(/^trunkline-backup-/);
    expect(told).toContain(at('data', 'backups', made));
    expect(readdirSync(process.cwd())).toEqual(before);
  });
});

describe('a backup of a folder without a control plane', () => {
  it('fails with a message and creates neither the folder nor a key nor the backup', async () => {
    await expect(run('backup', 'wrong', [at('backup')])).rejects.toThrow(
      `There is no database at ${at('wrong')}`,
    );
    expect(readdirSync(root)).toEqual([]);
  });
});

describe('a backup with a passphrase', () => {
  it('is taken while the control plane runs, and serves the same data when restored elsewhere', async () => {
    const { control, made } = await start('old');
    mkdirSync(at('old', 'port-documents'));
    writeFileSync(at('old', 'port-documents', 'doc'), 'sealed document');
    mkdirSync(at('old', 'recordings'));
    writeFileSync(at('old', 'recordings', 'one'), 'sealed recording');
    const before = await get(control, '/v1/inbound', made.api_key);
    const told = await run('backup', 'old', [at('backup')], passphrase);
    expect(told).toMatch(/4 files, \d+ bytes, checked\.\nThe key of stored secrets is in it, sealed/);
    expect(readdirSync(at('backup')).sort()).toEqual([
      'control.db',
      'manifest.json',
      'port-documents',
      'private.sealed',
      'recordings',
    ]);
    expect(statSync(at('backup')).mode & 0o777).toBe(0o700);
    const secretKey = readFileSync(at('old', 'secret.key'), 'utf8').trim();
    for (const name of ['control.db', 'private.sealed', 'manifest.json']) {
      const text = readFileSync(at('backup', name), 'latin1');
      expect(text).not.toContain(secretKey);
      expect(text).not.toContain(made.api_key);
    }
    await control.close();

    expect(await run('restore', 'new', [at('backup')], passphrase)).toMatch(
      /^Restored 4 files of the backup of 20/,
    );
    const again = await start('new');
    expect(again.made.api_key).toBe(made.api_key);
    expect(await get(again.control, '/v1/inbound', made.api_key)).toEqual(before);
    expect(readFileSync(at('new', 'port-documents', 'doc'), 'utf8')).toBe('sealed document');
    expect(readFileSync(at('new', 'recordings', 'one'), 'utf8')).toBe('sealed recording');
    expect(statSync(at('new', 'secret.key')).mode & 0o777).toBe(0o600);
    // Secrets can be opened: an edge's configuration has them in plain text.
    const { organizations } = await again.control.services.edgeConfig.snapshot();
    expect(organizations[0]?.signing_secret).toMatch(/^[0-9a-f]{64}$/);
    await again.control.close();
  });

  it('is without the files of recordings when the operator copies them otherwise', async () => {
    await (await start('old')).control.close();
    mkdirSync(at('old', 'recordings'));
    writeFileSync(at('old', 'recordings', 'one'), 'sealed recording');
    await run('backup', 'old', [at('backup'), '--without-recordings'], passphrase);
    expect(readdirSync(at('backup'))).toEqual(['control.db', 'manifest.json', 'private.sealed']);
  });

  it('cannot be opened with another passphrase', async () => {
    await (await start('old')).control.close();
    await run('backup', 'old', [at('backup')], passphrase);
    const restoring = run('restore', 'new', [at('backup')], { BACKUP_PASSPHRASE: 'wrong' });
    await expect(restoring).rejects.toThrow(
      'BACKUP_PASSPHRASE is not the one that the backup was made with.',
    );
    expect(existsSync(at('new', 'control.db'))).toBe(false);
  });
});

describe('an edge', () => {
  it('with a later state connects to the restored one, gets its configuration and keeps reporting', async () => {
    const { control, made } = await start('data');
    await run('backup', 'data', [at('backup')]);
    const first = await connectEdge({ url: listenOnce(control), edgeToken: made.edge_token });
    await first.next('config');
    const authorization = made.api_key;
    const payload = { phone_number: '+14155550177', directions: ['inbound'] };
    await control.app.inject({ method: 'POST', url: '/v1/sip/attach', headers: { authorization }, payload });
    const later = await first.next('change');
    first.send({ type: 'applied', version: later.change.version });
    first.send(reportFrame(1, [{ type: 'call', call: callRecord(made.org_id) }]));
    expect(await first.next('ack')).toMatchObject({ seq: 1 });
    await first.close();
    await control.close();

    await run('restore', 'data', [at('backup'), '--force']);
    const restored = await start('data');
    const edge = await connectEdge(
      { url: listenOnce(restored.control), edgeToken: made.edge_token },
      { config_version: later.change.version },
    );
    expect(await edge.next('welcome')).toMatchObject({ acknowledged: 0 });
    const { config } = await edge.next('config');
    expect(config.version).toBeLessThan(later.change.version);
    expect(config.numbers.map(({ number }) => number)).not.toContain('+14155550177');
    edge.send({ type: 'applied', version: config.version });
    const call = callRecord(made.org_id, { id: '00000000-0000-4000-8000-000000000002' });
    edge.send(reportFrame(2, [{ type: 'call', call }]));
    expect(await edge.next('ack')).toMatchObject({ seq: 2 });
    expect(await get(restored.control, `/v1/calls/${call.id}`, authorization)).toMatchObject({
      call_id: call.id,
    });
    await edge.close();
    await restored.control.close();
  });
});

describe('a restore', () => {
  it('replaces existing data with --force only, and keeps it', async () => {
    const { control, made } = await start('data');
    await control.close();
    await run('backup', 'data', [at('backup')]);
    await expect(run('restore', 'data', [at('backup')])).rejects.toThrow(
      '--force replaces it with the backup',
    );
    expect(await run('restore', 'data', [at('backup'), '--force'])).toContain(
      'What was there before is kept as',
    );
    expect(readdirSync(at('data')).filter((name) => name.startsWith('control.db.before-'))).toHaveLength(1);
    const again = await start('data');
    await get(again.control, '/v1/inbound', made.api_key);
    await again.control.close();
  });

  it('is rejected while a control plane holds the folder', async () => {
    await (await start('data')).control.close();
    await run('backup', 'data', [at('backup')]);
    const release = holdDataFolder(at('data'));
    const restoring = run('restore', 'data', [at('backup'), '--force']);
    await expect(restoring).rejects.toThrow(/another control plane uses/);
    release();
  });

  it('names the server that has the database now, without its password', () => {
    expect(restoredInto('/srv/data/control.db', '/srv/data')).toBe('/srv/data');
    expect(restoredInto('postgres://trunkline:secret@db:5432/trunkline', '/srv/data')).toBe(
      'postgres://trunkline@db:5432/trunkline, and its files into /srv/data',
    );
  });

  it.each(['control.db.restoring-wal', 'control.db-wal'])(
    'takes nothing from a log that was left as %s',
    async (left) => {
      const { control, made } = await start('data');
      await control.close();
      const database = at('data', 'control.db');
      const other = new SqliteFile(database);
      other.pragma('journal_mode = WAL');
      other.exec("update organizations set name = 'of the log'");
      const log = readFileSync(`${database}-wal`);
      other.exec("update organizations set name = 'of the backup'");
      await run('backup', 'data', [at('backup')]);
      other.close();
      mkdirSync(at('new'));
      writeFileSync(at('new', left), log);
      writeFileSync(at('new', 'secret.key'), readFileSync(at('data', 'secret.key')));
      await run('restore', 'new', [at('backup')]);
      const restored = new SqliteFile(at('new', 'control.db'));
      expect(restored.prepare('select id, name from organizations').all()).toEqual([
        { id: made.org_id, name: 'of the backup' },
      ]);
      restored.close();
    },
  );

  it("without the secrets' key says where to get it, before anything is changed", async () => {
    await (await start('data')).control.close();
    expect(await run('backup', 'data', [at('backup')])).toMatch(/needed to restore: .*secret\.key/);
    await expect(run('restore', 'new', [at('backup')])).rejects.toThrow(
      /The key of the backup's secrets is not here: set TRUNKLINE_SECRET_KEY/,
    );
    const TRUNKLINE_SECRET_KEY = 'ab'.repeat(32);
    await expect(run('restore', 'new', [at('backup')], { TRUNKLINE_SECRET_KEY })).rejects.toThrow(
      'cannot be decrypted with the key that is here',
    );
    expect(existsSync(at('new', 'control.db'))).toBe(false);
    mkdirSync(at('new'), { recursive: true });
    writeFileSync(at('new', 'secret.key'), readFileSync(at('data', 'secret.key')));
    expect(await run('restore', 'new', [at('backup')])).toContain('Restored 1 file of');
  });

  it("rejects modified files, folders that are not backups, and newer versions' backups", async () => {
    await (await start('data')).control.close();
    await run('backup', 'data', [at('backup')]);
    appendFileSync(at('backup', 'control.db'), 'x');
    await expect(run('restore', 'new', [at('backup')])).rejects.toThrow(
      'control.db was modified after the backup.',
    );
    await expect(run('restore', 'new', [root])).rejects.toThrow('is not a backup');
    const newer = new SqliteFile(at('data', 'control.db'));
    newer.exec(`insert into kysely_migration values ('9999-future', '2040-01-01')`);
    newer.close();
    await run('backup', 'data', [at('newer')]);
    writeFileSync(at('new', 'secret.key'), readFileSync(at('data', 'secret.key')));
    await expect(run('restore', 'new', [at('newer')])).rejects.toThrow(
      /made by a newer version of the program/,
    );
    expect(readdirSync(at('new')).sort()).toEqual(['control.lock', 'secret.key']);
  });
});

describe('a backup', () => {
  it('taken while numbers are written contains complete numbers only', async () => {
    const { control, made } = await start('data');
    const done = { backup: false };
    const backing = run('backup', 'data', [at('backup')]).finally(() => {
      done.backup = true;
    });
    let written = 0;
    for (; !done.backup && written < 5000; written++) {
      const payload = {
        phone_number: `+1415666${String(written).padStart(4, '0')}`,
        directions: ['inbound'],
      };
      const headers = { authorization: made.api_key };
      const { db } = control.services.database;
      await db
        .updateTable('api_keys')
        .set({ name: String(written) })
        .execute();
      const answer = await control.app.inject({ method: 'POST', url: '/v1/sip/attach', headers, payload });
      expect(answer.statusCode).toBe(200);
      await setImmediate();
    }
    await backing;
    expect(written).toBeGreaterThan(10);
    await control.close();
    const copy = new SqliteFile(at('backup', 'control.db'), { readonly: true });
    const count = (table: string) => copy.prepare(`select count(*) from ${table}`).pluck().get();
    const held = Number(count('numbers'));
    expect(held).toBeLessThanOrEqual(written + 3);
    // Each attach writes a number, its record and an audit entry in one transaction; three are from the start.
    expect([count('sip_configurations'), count('audit_entries')]).toEqual([held, held]);
    copy.close();
  });

  it('does not write into an existing folder', async () => {
    await (await start('data')).control.close();
    mkdirSync(at('backup'));
    await expect(run('backup', 'data', [at('backup')])).rejects.toThrow(
      'exists already; name another folder.',
    );
  });
});
