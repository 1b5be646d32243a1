/** The deployment's key, which seals secrets in the database (shared/secret-box.ts). */
import { join } from 'node:path';
import { keptKey, keyOfFile } from '#shared/secret-box.ts';

export { SecretBox } from '#shared/secret-box.ts';

/** The operator's key, else the one in the data folder, created there at the first start. */
export function loadSecretKey(given: string | null, dataFolder: string): string {
  return given ?? keyOfFile(join(dataFolder, 'secret.key'));
}

/** The same for programs that need an existing control plane: null when there is no key. */
export function keptSecretKey(given: string | null, dataFolder: string): string | null {
  return given ?? keptKey(join(dataFolder, 'secret.key'));
}
