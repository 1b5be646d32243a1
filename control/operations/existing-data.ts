/**
 * The deployment's key, checked against the database before anything is sealed or opened with it: with another one no
 * edge gets its configuration, and what is sealed with it cannot be opened with the right one.
 */
import { readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathExists } from '#shared/path-exists.ts';
import {
  isServer,
  keptSecretKey,
  loadSecretKey,
  readUnmigrated,
  SecretBox,
  shownAddress,
} from '../db/index.ts';
import { signingSecretContext } from '../organizations/index.ts';
import type { ControlConfig } from '../settings/index.ts';
import { OperationError } from './operation-error.ts';

/** In the name of an SQLite file whose rows are on a server now; the time of the move follows. */
export const movedEnding = '.moved-';

type Places = Pick<ControlConfig, 'database' | 'dataFolder' | 'secretKey'>;

/**
 * For programs that may be the first to use a data folder: the key given or stored there, or a new one when no database
 * needs an older one.
 * @throws OperationError when the database was sealed with another or a missing key, or was moved to a server
 */
export async function deploymentSecrets(config: Places): Promise<SecretBox> {
  const sealed = await oneSealed(config.database);
  if (sealed !== null) return openingSecrets(config, sealed);
  notMoved(config.database);
  notDeleted(config.database);
  return new SecretBox(loadSecretKey(config.secretKey, config.dataFolder));
}

/**
 * For commands that need an existing control plane. If there is none they create nothing: the folder may be a mistake,
 * and a new key or database in the wrong place would hide it.
 * @throws OperationError when there is no database, or no key that opens it
 */
export async function existingSecrets(config: Places): Promise<SecretBox> {
  if (!isServer(config.database) && !pathExists(config.database)) {
    throw new OperationError(
      `There is no database at ${resolve(config.database)}. Name the data folder of the control plane in ` +
        'TRUNKLINE_DATA; the first start of the control plane makes it.',
    );
  }
  return openingSecrets(config, await oneSealed(config.database));
}

/** After a move to a server, a restart with the old settings would serve a new, empty database: no key would be valid. */
function notMoved(database: string): void {
  const folder = dirname(database);
  if (isServer(database) || pathExists(database) || !pathExists(folder)) return;
  const moved = readdirSync(folder).find((name) => name.startsWith(`${basename(database)}${movedEnding}`));
  if (moved === undefined) return;
  throw new OperationError(
    `The database ${resolve(database)} was moved to PostgreSQL. Set DATABASE_URL to its URL. To go back to the state ` +
      `before the move, rename ${resolve(folder, moved)} to ${basename(database)}; to start over, move it away.`,
  );
}

/** SQLite deletes the log when the database is closed, and deletes it unread where there is no database. */
function notDeleted(database: string): void {
  if (isServer(database) || pathExists(database)) return;
  const log = `${database}-wal`;
  if (!pathExists(log)) return;
  throw new OperationError(
    `There is no database at ${resolve(database)}, but its log ${resolve(log)}: it was deleted or moved while it was in use. ` +
      'Put it back beside the log, or restore a backup; to start over, move the log away.',
  );
}

interface Sealed {
  readonly text: string;
  readonly context: string;
}

function openingSecrets({ database, dataFolder, secretKey }: Places, sealed: Sealed | null): SecretBox {
  const key = keptSecretKey(secretKey, dataFolder);
  if (key === null) {
    throw new OperationError(
      `There is no secret.key in ${resolve(dataFolder)}, and TRUNKLINE_SECRET_KEY is not set. ` +
        'Set it, or restore the secret.key that belongs to the database.',
    );
  }
  const secrets = new SecretBox(key);
  if (sealed === null || opens(secrets, sealed)) return secrets;
  const given = secretKey === null ? join(resolve(dataFolder), 'secret.key') : 'TRUNKLINE_SECRET_KEY';
  throw new OperationError(
    `The secrets in ${placeOf(database)} cannot be decrypted with the key of ${given}: it belongs to another database. ` +
      'Restore the key that sealed them (a backup with BACKUP_PASSPHRASE contains it).',
  );
}

function placeOf(database: string): string {
  return isServer(database) ? shownAddress(database) : resolve(database);
}

function opens(secrets: SecretBox, { text, context }: Sealed): boolean {
  try {
    secrets.open(text, context);
    return true;
  } catch {
    return false;
  }
}

/** Every organization has a sealed secret from its creation, and nothing is sealed without an organization. */
async function oneSealed(database: string): Promise<Sealed | null> {
  if (!isServer(database) && (database === ':memory:' || !pathExists(database))) return null;
  return readUnmigrated(database, async (db) => {
    const row = await db
      .selectFrom('organizations')
      .select(['id', 'signing_secret'])
      .limit(1)
      .executeTakeFirst();
    return row ? { text: row.signing_secret, context: signingSecretContext(row.id) } : null;
  });
}
