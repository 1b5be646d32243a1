/**
 * Recordings whose edge stays away after the call: what it sent during the call can be played, and the edge may still
 * bring the rest.
 */

import { type RecordingRow, toJson } from '../db/index.ts';
import { dataKeyOf } from './data-keys.ts';
import type { RecordingsDeps } from './deps.ts';
import { inspect } from './inspect.ts';

type Parts = Pick<RecordingsDeps, 'clock' | 'database' | 'secrets' | 'recordingContents'>;

const hourMs = 3_600_000;
/** Longer than any call, and short enough that nobody looks at all recordings every time. */
const awayHours = { least: 13, most: 240 };
/** Opened in one round, about: as many are read at once. */
const recordingsAtOnce = 20;
/** Looked at in one round: of many whose octets are not here, the next round takes the next. */
const lookedAtOnce = 200;

/** What a recording is, from its octets. @throws Unopenable; Error when they cannot be read */
export async function factsOf(
  { database, secrets, recordingContents }: Omit<Parts, 'clock'>,
  row: RecordingRow,
): Promise<Required<Pick<RecordingRow, 'ended' | 'frames' | 'runs' | 'pauses' | 'peaks'>>> {
  const read = (from: number, to: number) => recordingContents.read(row, from, to);
  const recording = { id: row.id, dataKey: await dataKeyOf({ database, secrets }, row) };
  const { ended, frames, runs, pauses, peaks } = await inspect(read, row.received, recording);
  return { ended, frames, runs: toJson(runs), pauses: toJson(pauses), peaks: toJson(peaks) };
}

export class UnfinishedRecordings {
  readonly #parts: Parts;
  /** The last one that was looked at; the next round goes on behind it. */
  #after = '';

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * One that cannot be opened holds up no others.
   * @returns how many can be played now, and whether the next round has more to do
   * @throws Error about the first of those that cannot be opened, after the others
   */
  async open(): Promise<{ opened: number; more: boolean }> {
    let first: { readonly id: string; readonly cause: unknown } | null = null;
    let [looked, opened, failed] = [0, 0, 0];
    while (looked < lookedAtOnce && opened < recordingsAtOnce) {
      const rows = await unfinishedAfter(this.#parts, this.#after);
      for (const row of rows) {
        try {
          if (await openOne(this.#parts, row)) opened++;
        } catch (error) {
          first ??= { id: row.id, cause: error };
          failed++;
        }
      }
      looked += rows.length;
      const isLast = rows.length < recordingsAtOnce;
      this.#after = isLast ? '' : (rows.at(-1)?.id ?? '');
      if (isLast) break;
    }
    if (first)
      throw new Error(`${failed} recordings cannot be opened, the first is ${first.id}`, {
        cause: first.cause,
      });
    return { opened, more: opened > 0 && this.#after !== '' };
  }
}

/** The next ones; ids are in the order of time. */
function unfinishedAfter({ clock, database }: Parts, after: string): Promise<RecordingRow[]> {
  const ago = (hours: number) => new Date(clock.now() - hours * hourMs).toISOString();
  return database.db
    .selectFrom('recordings')
    .selectAll()
    .where('started_at', '>', ago(awayHours.most))
    .where('started_at', '<', ago(awayHours.least))
    .where('state', '=', 'uploading')
    .where('frames', 'is', null)
    .where('received', '>', 0)
    .where('id', '>', after)
    .orderBy('id')
    .limit(recordingsAtOnce)
    .execute();
}

/** @returns false when its octets are not here */
async function openOne(parts: Parts, row: RecordingRow): Promise<boolean> {
  if (!(await parts.recordingContents.has(row))) return false;
  const { ended: _, ...facts } = await factsOf(parts, row);
  await parts.database.db
    .updateTable('recordings')
    .set(facts)
    .where('id', '=', row.id)
    .where('state', '=', 'uploading')
    .execute();
  return true;
}
