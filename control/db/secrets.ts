/** The key of the deployment, under which secrets are sealed in the database (shared/secret-box.ts). */
import { join } from 'node:path';
import { keyOfFile } from '#shared/secret-box.ts';

export { SecretBox } from '#shared/secret-box.ts';

/** The key given by the operator, else the one in the data folder. */
export function loadSecretKey(given: string | null, dataFolder: string): string {
  return given ?? keyOfFile(join(dataFolder, 'secret.key'));
}
