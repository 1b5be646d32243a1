/** The database of the control plane, which is only read. */
import { statSync } from 'node:fs';
import { ownCommand } from '#shared/own-command.ts';
import { pathExists } from '#shared/path-exists.ts';
import { isServer, quickDamageOf, schemaState, serverVersion, shownAddress } from '../../control/db/index.ts';
import { existingSecrets, OperationError } from '../../control/operations/index.ts';
import type { ControlConfig } from '../../control/settings/index.ts';
import { type Check, type Finding, failed, ok, skipped, warning } from './check.ts';
import { reasonOf } from './reason.ts';
import { ofControl } from './with-settings.ts';

/** A larger file is not checked: that would take minutes. */
const largestChecked = 2 * 1_073_741_824;

/** Why the file is not opened; null: it can be. */
function unopened(file: string): Finding | null {
  if (file === ':memory:') return skipped('it is in memory');
  if (!pathExists(file)) return skipped(`${file} does not exist yet: the first start makes it`);
  const { uid } = statSync(file);
  // SQLite would make them, and the owner could then not open them.
  const isAnothers = uid !== process.getuid?.() && !pathExists(`${file}-shm`);
  return isAnothers
    ? skipped(`${file} belongs to user ${uid} and is not in use: run the doctor as that user`)
    : null;
}

async function schema({ database }: ControlConfig): Promise<Finding> {
  const isOnServer = isServer(database);
  const closed = isOnServer ? null : unopened(database);
  if (closed) return closed;
  const place = shownAddress(database);
  let state: Awaited<ReturnType<typeof schemaState>>;
  let server = '';
  try {
    if (isOnServer) server = `PostgreSQL ${await serverVersion(database)}, `;
    state = await schemaState(database);
  } catch (error) {
    return failed(
      `${place} cannot be opened: ${reasonOf(error)}`,
      isOnServer
        ? 'start the server, or correct DATABASE_URL'
        : 'docs/operations.md, "When control does not start"',
    );
  }
  if (!state) return ok(`${place}: ${server}no schema yet; the first start makes it`);
  const { missing, unknown, unusable } = state;
  const last = unknown.at(-1);
  if (last !== undefined && unusable === null)
    return ok(`${place}: ${server}the schema is of the next version (${last}), which this one can use`);
  if (last !== undefined) {
    return failed(
      `${place}: ${server}the schema is of a newer version (${last})`,
      'run that version, or restore a backup from before the upgrade',
    );
  }
  if (missing.length > 0) {
    return warning(
      `${place}: ${server}the schema is of an earlier version, without ${missing.length} migrations`,
      `the next start of control migrates it; make a backup before: ${ownCommand('backup')}`,
    );
  }
  return ok(`${place}: ${server}the schema is that of this version`);
}

function integrity({ database }: ControlConfig): Finding {
  if (isServer(database)) return skipped('PostgreSQL checks its pages itself (data_checksums)');
  const closed = unopened(database);
  if (closed) return closed;
  const { size } = statSync(database);
  if (size > largestChecked)
    return skipped(
      `${database} has ${(size / 1_073_741_824).toFixed(1)} GiB: a backup checks it: ${ownCommand('backup')}`,
    );
  const damage = quickDamageOf(database);
  if (damage === null) return ok(`${database}: quick_check finds nothing`);
  return failed(
    `${database} ${damage}`,
    `stop control and restore a backup: ${ownCommand('restore')} <folder> --force`,
  );
}

async function key(config: ControlConfig): Promise<Finding> {
  const closed = isServer(config.database) ? null : unopened(config.database);
  if (closed) return closed;
  try {
    await existingSecrets(config);
    return ok('the key opens what is sealed in the database');
  } catch (error) {
    if (error instanceof OperationError)
      return failed(error.message, 'docs/operations.md, "When control does not start"');
    return skipped(`the database cannot be read: ${reasonOf(error)}`);
  }
}

export const databaseChecks: readonly Check[] = [
  {
    name: 'database.schema',
    program: 'control',
    about: 'The database opens, with the version of a PostgreSQL server, and has the schema of this version.',
    bad: 'It cannot be opened, or is of a newer version and cannot be used by this one (failed); it is of an earlier one (warning).',
    run: ofControl(schema),
  },
  {
    name: 'database.integrity',
    program: 'control',
    about: 'SQLite: `PRAGMA quick_check`, of files up to 2 GiB.',
    bad: 'The file is damaged.',
    run: ofControl(integrity),
  },
  {
    name: 'database.key',
    program: 'control',
    about: 'The key of the deployment opens what is sealed in the database.',
    bad: 'It is missing, or another one: control does not start.',
    run: ofControl(key),
  },
];
