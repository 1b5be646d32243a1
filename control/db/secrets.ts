/** The key of the deployment, under which secrets are sealed in the database (shared/secret-box.ts). */
import { join } from 'node:path';
import { keptKey, keyOfFile } from '#shared/secret-box.ts';

export { SecretBox } from '#shared/secret-box.ts';

/** The key given by the operator, else the one in the data folder, made there at the first start. */
export function loadSecretKey(given: string | null, dataFolder: string): string {
  return given ?? keyOfFile(join(dataFolder, 'secret.key'));
}

/** The same for programs that work on what a control plane has made: null when there is none. */
export function keptSecretKey(given: string | null, dataFolder: string): string | null {
  return given ?? keptKey(join(dataFolder, 'secret.key'));
}
