/**
 * Recordings whose edge stays away after the call: what it sent during the call can be played, and the edge may still
 * bring the rest.
 */

import { unwrapKey } from '#shared/recording/keys.ts';
import { type RecordingRow, toJson } from '../db/index.ts';
import { recordingKeyPair } from '../recording-keys/index.ts';
import type { RecordingsDeps } from './deps.ts';
import { inspect } from './inspect.ts';

type Parts = Pick<RecordingsDeps, 'clock' | 'database' | 'secrets' | 'recordingContents'>;

const hourMs = 3_600_000;
/** Longer than any call, and short enough that nobody looks at all recordings every time. */
const awayHours = { least: 13, most: 240 };
/** Read in one round. */
const recordingsAtOnce = 20;

/** What a recording is, from its octets. @throws Error when its key is missing */
export async function factsOf(
  { database, secrets, recordingContents }: Omit<Parts, 'clock'>,
  row: RecordingRow,
): Promise<Required<Pick<RecordingRow, 'ended' | 'frames' | 'runs' | 'pauses' | 'peaks'>>> {
  const pair = await recordingKeyPair(database.db, secrets, row.key_id);
  const read = (from: number, to: number) => recordingContents.read(row, from, to);
  const recording = { id: row.id, dataKey: unwrapKey(row, pair, row.id) };
  const { ended, frames, runs, pauses, peaks } = await inspect(read, row.received, recording);
  return { ended, frames, runs: toJson(runs), pauses: toJson(pauses), peaks: toJson(peaks) };
}

/** @returns how many can be played now */
export async function openUnfinished(parts: Parts): Promise<number> {
  const { clock, database, recordingContents } = parts;
  const ago = (hours: number) => new Date(clock.now() - hours * hourMs).toISOString();
  const rows = await database.db
    .selectFrom('recordings')
    .selectAll()
    .where('started_at', '>', ago(awayHours.most))
    .where('started_at', '<', ago(awayHours.least))
    .where('state', '=', 'uploading')
    .where('frames', 'is', null)
    .where('received', '>', 0)
    .orderBy('started_at')
    .limit(recordingsAtOnce)
    .execute();
  let opened = 0;
  for (const row of rows) {
    if (!(await recordingContents.has(row))) continue;
    opened++;
    const { ended: _, ...facts } = await factsOf(parts, row);
    await database.db
      .updateTable('recordings')
      .set(facts)
      .where('id', '=', row.id)
      .where('state', '=', 'uploading')
      .execute();
  }
  return opened;
}
