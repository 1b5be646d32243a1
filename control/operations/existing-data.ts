/**
 * What a control plane has made, for commands that only work on it. One that finds nothing makes nothing: the folder
 * may have been named by mistake, and a new key or database in the wrong place hides that.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ControlConfig } from '../config.ts';
import { keptSecretKey, SecretBox } from '../db/secrets.ts';
import { OperationError } from './operation-error.ts';

/** @throws OperationError when there is no database, or no key for it */
export function existingSecrets(
  config: Pick<ControlConfig, 'databaseFile' | 'dataFolder' | 'secretKey'>,
): SecretBox {
  if (!existsSync(config.databaseFile)) {
    throw new OperationError(
      `There is no database at ${resolve(config.databaseFile)}. Name the data folder of the control plane in ` +
        'TRUNKLINE_DATA; the first start of the control plane makes it.',
    );
  }
  const key = keptSecretKey(config.secretKey, config.dataFolder);
  if (key === null) {
    throw new OperationError(
      `There is no secret.key in ${resolve(config.dataFolder)}, and TRUNKLINE_SECRET_KEY is not set. ` +
        'Set it, or put back the secret.key that belongs to the database.',
    );
  }
  return new SecretBox(key);
}
