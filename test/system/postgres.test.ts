/** The control plane on a PostgreSQL server: moved there while it runs, backed up and restored, and the server's crash. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { InboundNumberList } from '#shared/api/inbound.ts';
import { openDatabase } from '../../control/db/open.ts';
import { type PostgresServer, startPostgres } from '../kit/db/postgres-server.ts';
import { longTest } from '../kit/long-test.ts';
import { builtProgram } from '../kit/programs/built-programs.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';
import { eventually } from '../kit/programs/eventually.ts';

let server: PostgresServer;
let control: ControlProgram;
let databases = 0;
/** One page of the list holds them all. */
const mostWhileCopying = 400;
let address = '';

beforeAll(async () => {
  server = await startPostgres({ durable: true });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  control = new ControlProgram({ RATE_LIMIT_PER_MINUTE: '1000000' });
  address = await createDatabase();
});
afterEach(() => control.remove());

async function createDatabase(): Promise<string> {
  const name = `moved_${++databases}`;
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return server.url(name);
}

function run(name: string, args: readonly string[], more: NodeJS.ProcessEnv, folder = control.folder) {
  const { file, compiled } = builtProgram(join(import.meta.dirname, '..', '..', 'control', `${name}.ts`));
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: compiled,
    NODE_NO_WARNINGS: '1',
    TRUNKLINE_DATA: folder,
    ...more,
  };
  return promisify(execFile)(process.execPath, [file, ...args], { env });
}

const attach = (number: string) =>
  control.api.ok('POST', '/v1/sip/attach', { phone_number: number, directions: ['inbound'] });

async function numbers(): Promise<string[]> {
  const { inbound_numbers: all } = (await control.api.ok('GET', '/v1/inbound?limit=500')).read(
    InboundNumberList,
  );
  return all.map((number) => number.phone_number).sort();
}

test('a control plane moves from SQLite while it runs; nothing that it answered is missing', async () => {
  await control.start();
  const attached: string[] = [];
  const attachNext = async () => {
    const number = `+1415555${String(1000 + attached.length)}`;
    await attach(number);
    attached.push(number);
  };
  await attachNext();
  const moving = run('migrate-database', ['--to', address], {});
  const said = { text: '' };
  moving.child.stderr?.on('data', (chunk) => {
    said.text += String(chunk);
  });
  const ended = once(moving.child, 'exit');
  await eventually('the move to ask for a stop', async () => {
    if (moving.child.exitCode !== null) throw new Error(said.text);
    if (attached.length < mostWhileCopying) await attachNext();
    return said.text.includes('Stop the control plane now') || null;
  });
  for (let more = 0; more < 5; more++) await attachNext();
  await control.end('SIGTERM');
  const { stdout } = await moving;
  await ended;
  expect(stdout).toMatch(/^Moved \d+ rows\. The SQLite file is kept as .*control\.db\.moved-/);
  expect(readdirSync(control.folder)).not.toContain('control.db');

  await control.start({ DATABASE_URL: address });
  expect(await numbers()).toEqual(expect.arrayContaining(attached));
  await attach('+14155559999');
});

longTest('a backup of a server is restored into a server, and into a file', async () => {
  await control.start({ DATABASE_URL: address });
  await attach('+14155551234');
  const all = await numbers();
  const folder = mkdtempSync(join(tmpdir(), 'backup-of-server-'));
  const backup = join(folder, 'backup');
  await run('backup', [backup], { DATABASE_URL: address });
  await attach('+14155555678');
  // From another host, whose data folder nobody holds.
  const elsewhere = run('restore', [backup, '--force'], { DATABASE_URL: address }, join(folder, 'data'));
  await expect(elsewhere).rejects.toThrow('A control plane works on');
  await control.end('SIGTERM');

  const restoring = run('restore', [backup], { DATABASE_URL: address });
  await expect(restoring).rejects.toThrow('has rows already; --force replaces them');
  await run('restore', [backup, '--force'], { DATABASE_URL: address });
  await control.start({ DATABASE_URL: address });
  expect(await numbers()).toEqual(all);
  await control.end('SIGTERM');

  await run('restore', [backup], {});
  await control.start();
  expect(await numbers()).toEqual(all);
  rmSync(folder, { recursive: true });
});

longTest('a restore of a backup into an empty server brings its key only with the passphrase', async () => {
  await control.start();
  const folder = mkdtempSync(join(tmpdir(), 'backup-of-file-'));
  const backup = join(folder, 'backup');
  const passphrase = { BACKUP_PASSPHRASE: 'correct horse battery staple' };
  await run('backup', [backup], passphrase);
  const elsewhere = join(folder, 'data');
  const target = { DATABASE_URL: address };
  await expect(run('restore', [backup], target, elsewhere)).rejects.toThrow(
    "The key of the backup's secrets",
  );
  await run('restore', [backup], { ...target, ...passphrase }, elsewhere);
  expect(readFileSync(join(elsewhere, 'secret.key'), 'utf8')).toBe(
    readFileSync(join(control.folder, 'secret.key'), 'utf8'),
  );
  rmSync(folder, { recursive: true });
});

longTest('a killed move leaves a control plane that works, and --cancel removes what it left', async () => {
  await control.start();
  const moving = run('migrate-database', ['--to', address], {});
  moving.child.stderr?.once('data', () => moving.child.kill('SIGKILL'));
  await expect(moving).rejects.toThrow();
  // The copy has the rows of the control plane that runs on the file, also what says that it runs.
  await expect(run('migrate-database', ['--to', address], {})).rejects.toThrow('has rows already');
  await attach('+14155551234');
  expect((await run('migrate-database', ['--cancel'], {})).stdout).toContain('notes no changes for a move');
  await attach('+14155551235');
  await expect(run('migrate-database', ['--to', address], {})).rejects.toThrow('has rows already');
});

test('a crash of the server loses nothing that was answered, and control connects again by itself', async () => {
  await control.start({ DATABASE_URL: address });
  for (let n = 0; n < 20; n++) await attach(`+1415555${2000 + n}`);
  const before = await numbers();
  await server.crash();
  const after = await eventually('control to answer again', async () => {
    const answer = await control.api.request('GET', '/v1/inbound?limit=500');
    return answer.status === 200 ? numbers() : null;
  });
  expect(after).toEqual(before);
  await attach('+14155559999');
});

longTest('a database of no or another version is not moved or backed up', async () => {
  writeFileSync(join(control.folder, 'note'), '');
  await expect(run('migrate-database', ['--to', address], {})).rejects.toThrow('There is no database at');
  await expect(run('migrate-database', [], {})).rejects.toThrow('--to is missing');
  await control.start();
  await control.end('SIGTERM');
  await expect(run('migrate-database', ['--to', '/tmp/other.db'], {})).rejects.toThrow(
    '--to takes a URL that begins with postgres://',
  );
  await expect(run('backup', [join(control.folder, 'backup')], { DATABASE_URL: address })).rejects.toThrow(
    'has the tables of another version of the program, or none',
  );
});

test('the statements of docs/postgresql.md make a database that its user can use', async () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'postgresql.md'), 'utf8');
  // The server's own user has that name.
  const own = (text: string) => text.replaceAll('trunkline', 'of_the_page');
  const statements = [...page.matchAll(/^ {4}(CREATE .*;)$/gm)].map(([, text = '']) => own(text));
  expect(statements).toHaveLength(2);
  const psql = (database: string, ...commands: readonly string[]) =>
    promisify(execFile)('psql', [
      server.url(database),
      '-v',
      'ON_ERROR_STOP=1',
      ...commands.flatMap((text) => ['-c', text]),
    ]);
  await psql('postgres', ...statements);
  const ownUrl = server.url('of_the_page').replace('user=trunkline', 'user=of_the_page');
  await (await openDatabase(ownUrl)).close();

  const [, truncate = ''] = /`(truncate [\w, ]+)`/.exec(page) ?? [];
  expect((await psql('of_the_page', truncate)).stdout.trim()).toBe('TRUNCATE TABLE');
});
