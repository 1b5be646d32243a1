/** Opens the data keys of recordings. */
import { unwrapKey } from '#shared/recording/keys.ts';
import type { RecordingRow } from '../db/index.ts';
import { recordingKeyPair } from '../recording-keys/index.ts';
import type { RecordingsDeps } from './deps.ts';

/** No key of this deployment opens it, as after a restore of an earlier database: trying again changes nothing. */
export class Unopenable extends Error {}

/** @throws Unopenable; Error when the deployment's keys cannot be read */
export async function dataKeyOf(
  { database, secrets }: Pick<RecordingsDeps, 'database' | 'secrets'>,
  row: Pick<RecordingRow, 'id' | 'key_id' | 'ephemeral' | 'wrapped'>,
): Promise<Buffer> {
  const pair = await recordingKeyPair(database.db, secrets, row.key_id);
  if (!pair) throw new Unopenable(`there is no recording key ${row.key_id}`);
  try {
    return unwrapKey(row, pair, row.id);
  } catch (cause) {
    throw new Unopenable(`recording key ${row.key_id} does not open its data key`, { cause });
  }
}
