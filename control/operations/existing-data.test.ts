import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { openDatabase } from '../db/open.ts';
import { keptSecretKey } from '../db/secrets.ts';
import { createOrganization } from '../organizations/store.ts';
import { plainWords } from './arguments.ts';
import { deploymentSecrets, existingSecrets, movedEnding } from './existing-data.ts';

let dataFolder: string;
let databaseFile: string;
const other = 'cd'.repeat(32);

beforeEach(() => {
  dataFolder = mkdtempSync(join(tmpdir(), 'key-check-'));
  databaseFile = join(dataFolder, 'control.db');
});

afterEach(() => rmSync(dataFolder, { recursive: true }));

/** The result of a first start: a key, and a database with an organization. */
async function firstStart(): Promise<void> {
  const secrets = await deploymentSecrets({ database: databaseFile, dataFolder, secretKey: null });
  const database = await openDatabase(databaseFile);
  try {
    await createOrganization(database.db, systemClock, secrets, {
      name: 'Acme',
      region: 'us',
      sipEnabled: true,
    });
  } finally {
    await database.close();
  }
}

const ways = [
  ['a start', deploymentSecrets],
  ['a command', existingSecrets],
] as const;

it.each(ways)('%s uses the key that sealed the database', async (_, take) => {
  await firstStart();
  const key = keptSecretKey(null, dataFolder);
  await expect(take({ database: databaseFile, dataFolder, secretKey: null })).resolves.toBeDefined();
  await expect(take({ database: databaseFile, dataFolder, secretKey: key })).resolves.toBeDefined();
});

it.each(ways)('%s rejects another key, given or in the folder, and names it', async (_, take) => {
  await firstStart();
  await expect(take({ database: databaseFile, dataFolder, secretKey: other })).rejects.toThrow(
    'cannot be decrypted with the key of TRUNKLINE_SECRET_KEY',
  );
  writeFileSync(join(dataFolder, 'secret.key'), other);
  await expect(take({ database: databaseFile, dataFolder, secretKey: null })).rejects.toThrow(
    `cannot be decrypted with the key of ${join(dataFolder, 'secret.key')}`,
  );
});

it.each(ways)('%s creates no new key for a database that needs an old one', async (_, take) => {
  await firstStart();
  rmSync(join(dataFolder, 'secret.key'));
  await expect(take({ database: databaseFile, dataFolder, secretKey: null })).rejects.toThrow(
    'There is no secret.key in',
  );
  expect(readdirSync(dataFolder)).not.toContain('secret.key');
});

it('a start creates a key for an empty folder and for a database without organizations', async () => {
  const made = await deploymentSecrets({ database: databaseFile, dataFolder, secretKey: null });
  await (await openDatabase(databaseFile)).close();
  const again = await deploymentSecrets({ database: databaseFile, dataFolder, secretKey: null });
  expect(again.open(made.seal('text', 'context'), 'context')).toBe('text');
  expect(await deploymentSecrets({ database: databaseFile, dataFolder, secretKey: other })).toBeDefined();
});

it('a start makes no new database beside the log of one that was deleted', async () => {
  await firstStart();
  const start = () => deploymentSecrets({ database: databaseFile, dataFolder, secretKey: null });
  const database = await openDatabase(databaseFile);
  renameSync(databaseFile, `${databaseFile}.elsewhere`);
  await expect(start()).rejects.toThrow(
    `There is no database at ${databaseFile}, but its log ${databaseFile}-wal`,
  );
  renameSync(`${databaseFile}.elsewhere`, databaseFile);
  await expect(start()).resolves.toBeDefined();
  await database.close();
});

it('a start makes no new database where one was moved to a server', async () => {
  await firstStart();
  const moved = `${databaseFile}${movedEnding}2030-01-07T03-00-00-000Z`;
  renameSync(databaseFile, moved);
  const start = () => deploymentSecrets({ database: databaseFile, dataFolder, secretKey: null });
  await expect(start()).rejects.toThrow('was moved to PostgreSQL. Set DATABASE_URL');
  await expect(start()).rejects.toThrow(`rename ${moved} to control.db`);
  renameSync(moved, databaseFile);
  await expect(start()).resolves.toBeDefined();
});

it.each(ways)('%s names a truncated database', async (_, take) => {
  await firstStart();
  truncateSync(databaseFile, readFileSync(databaseFile).length / 2);
  const error = await take({ database: databaseFile, dataFolder, secretKey: null }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(plainWords(error)).toContain(`The database ${databaseFile} is damaged`);
});
