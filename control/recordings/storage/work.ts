/**
 * Brings complete recordings to their storage, and deletes what is forgotten:
 *
 *     moving --the object is whole--> clearing --no copy of ours is left--> stored
 *        |                               |                                     |
 *        +----- the recording was deleted, or the storage is not ours any more +--> deleting --> no row
 *
 * A row is stored before anything is written to the storage, and deleted after everything there is: a kill at any point
 * loses neither a recording nor an object. Until `clearing`, the recording is read from where it was.
 */
import type { Registry } from 'prom-client';
import {
  type BackgroundWork,
  DueWork,
  type RecordingObjectRow,
  type RecordingStorageRow,
  type Replica,
} from '../../db/index.ts';
import { deleteParts, findRecording, placeInStorage } from '../store.ts';
import { concernsAll, isStorageFault, within } from './faults.ts';
import { type StorageMetrics, storageMetrics } from './metrics.ts';
import { changeObject, deleteObject, findObject, nextDueObject } from './objects-store.ts';
import { Shares } from './shares.ts';
import { keyOf, type RecordingStorage, readHere, type StorageParts } from './storage.ts';
import { deleteUnused, findStorage, noteResult, pauseStorage } from './storages-store.ts';
import { bring, partBytes, remove, Vanished } from './transfer.ts';
import { wordsOf } from './trial.ts';

/** At once; each has a part of 8 MiB in memory. */
const mostRunning = 8;
const mostPerOrganization = 2;
/** After failed attempts, ms; the last value repeats. */
const pausesMs: readonly number[] = [10_000, 60_000, 300_000, 900_000];
/** After its file was not found, ms: it may come with a backup's folder that is copied later. */
const missingPauseMs = 6 * 3_600_000;
/** A whole attempt: this, and the time of its octets at 1 Mbit/s, ms. An upload goes on where the last attempt ended. */
const attemptMs = 60_000;
const bytesPerMs = 125;
/** Attempts to delete one object; a month. */
const mostDeletions = 2_900;

export interface StorageWorkServices extends StorageParts {
  readonly replica: Replica;
  readonly recordingStorage: RecordingStorage;
  /** Of an upload; others than the product's are for tests. */
  readonly partBytes?: number;
}

export interface StorageLog {
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

interface StorageWorkParts extends StorageWorkServices {
  readonly log: StorageLog;
  readonly metrics: StorageMetrics;
  readonly shares: Shares;
}

/** Starts at once with what is due. Close it before the database. */
export function startStorageWork(
  services: StorageWorkServices,
  log: StorageLog,
  registry: Registry,
): BackgroundWork {
  const { clock, database, recordingStorage, replica } = services;
  const { db } = database;
  const shares = new Shares();
  const parts = { ...services, log, metrics: storageMetrics(registry, database), shares };
  return new DueWork<RecordingObjectRow>({
    db,
    replica,
    clock,
    log,
    name: 'recording storage',
    mostRunning,
    mostPerOrganization,
    due: (one, now, without, limit) => shares.due(one, now, without, limit),
    nextDue: (now) => nextDueObject(db, now),
    attempt: (object, signal) => attempt(parts, object, signal),
    failed: async (id, later) => {
      const object = await findObject(db, id);
      if (object?.next_attempt_at)
        await changeObject(db, object, { attempts: object.attempts + 1, next_attempt_at: later });
    },
    onStored: (wake) => recordingStorage.onStored(wake),
  });
}

async function attempt(
  parts: StorageWorkParts,
  object: RecordingObjectRow,
  signal: AbortSignal,
): Promise<void> {
  const work = object.state === 'deleting' ? 'delete' : 'move';
  const { clock } = parts;
  const began = clock.elapsed();
  const ms = attemptMs + (work === 'move' ? object.size / bytesPerMs : 0);
  try {
    await within({ clock, ms, signal }, (limited) => step(parts, object, limited));
  } catch (error) {
    if (signal.aborted) return;
    const facts = { recording: object.id, org_id: object.org_id, storage: object.storage_id };
    if (error instanceof Vanished) return missing(parts, object, error, facts);
    return failed(parts, object, work, error, facts);
  } finally {
    parts.shares.took(object, clock.now(), clock.elapsed() - began);
  }
  if (object.state !== 'moving') parts.metrics.attempt(work, 'done');
}

async function step(parts: StorageWorkParts, object: RecordingObjectRow, signal: AbortSignal): Promise<void> {
  const { db } = parts.database;
  if (object.state === 'clearing') return clear(parts, object);
  const storage = await findStorage(db, object.storage_id);
  if (object.state === 'deleting') {
    if (storage) {
      if (await isOnlyCopy(parts, object)) return adopt(parts, object, storage, signal);
      await remove(parts.recordingStorage.client(storage), keyOf(storage, object), signal);
      await noteResult(db, storage.id, null, new Date(parts.clock.now()).toISOString());
    }
    await deleteObject(db, object.id);
    await deleteUnused(db, object.storage_id);
    return;
  }
  const recording = await findRecording(db, object.id);
  if (!storage || !recording) {
    await changeObject(db, object, { state: 'deleting', attempts: 0 });
    return;
  }
  const { size } = object;
  const client = parts.recordingStorage.client(storage);
  const key = keyOf(storage, object);
  const brought = bring(
    client,
    {
      key,
      size,
      uploadId: object.upload_id,
      read: (from, to) => readHere(parts, recording, from, to),
      keepUpload: async (upload_id) => {
        if (!(await changeObject(db, object, { upload_id }))) throw new Vanished('it was deleted meanwhile');
      },
      partBytes: parts.partBytes ?? partBytes,
    },
    signal,
  );
  await brought.catch(async (error: unknown) => {
    // After a restore, the rows can be older than what was done: the object is the only copy then.
    if (!(error instanceof Vanished && (await client.has(key, size, signal)))) throw error;
  });
  await place(parts, object);
}

/** A recording that stays here when its storage is removed may not be here, after a restore: then it is kept there. */
async function isOnlyCopy(parts: StorageWorkParts, { id, size }: RecordingObjectRow): Promise<boolean> {
  const recording = await findRecording(parts.database.db, id);
  if (recording?.state !== 'ready') return false;
  return (await readHere(parts, recording, size - 1, size)).length === 0;
}

async function adopt(
  parts: StorageWorkParts,
  object: RecordingObjectRow,
  storage: RecordingStorageRow,
  signal: AbortSignal,
): Promise<void> {
  const client = parts.recordingStorage.client(storage);
  if (!(await client.has(keyOf(storage, object), object.size, signal)))
    throw new Vanished('it is neither here nor in the storage');
  await place(parts, object);
}

/** The object is whole: from now on it is read there. */
async function place(
  { clock, database: { db } }: StorageWorkParts,
  object: RecordingObjectRow,
): Promise<void> {
  const now = new Date(clock.now()).toISOString();
  await noteResult(db, object.storage_id, null, now);
  await db.transaction().execute(async (trx) => {
    // Otherwise it is to be deleted, and due.
    const change = { state: 'clearing', upload_id: null, attempts: 0, next_attempt_at: now } as const;
    if (await changeObject(trx, object, change)) await placeInStorage(trx, object.id);
  });
}

/** The octets that were here before. Who reads them now goes on in the storage. */
async function clear(
  { database, recordingContents }: StorageWorkParts,
  object: RecordingObjectRow,
): Promise<void> {
  await recordingContents.delete(object.id);
  await deleteParts(database.db, object.id);
  await changeObject(database.db, object, { state: 'stored', attempts: 0, next_attempt_at: null });
}

/**
 * Its file is not here, nor is it in the storage. Nothing is deleted: another deployment that was restored from the same
 * backup may bring it, or the file may come back. When the recording is deleted, so is what is there.
 */
async function missing(
  { clock, database: { db }, log }: StorageWorkParts,
  object: RecordingObjectRow,
  { message }: Vanished,
  facts: object,
): Promise<void> {
  const next_attempt_at = new Date(clock.now() + missingPauseMs).toISOString();
  // Nothing changes where a deletion was faster.
  if (await changeObject(db, object, { attempts: object.attempts + 1, next_attempt_at }))
    log.warn({ ...facts, why: message, next_attempt_at }, 'a recording is not brought to its storage');
}

async function failed(
  { clock, database: { db }, log, metrics }: StorageWorkParts,
  object: RecordingObjectRow,
  work: 'move' | 'delete',
  cause: unknown,
  facts: object,
): Promise<void> {
  const error = wordsOf(cause);
  const attempts = object.attempts + 1;
  const pauseMs = pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? 0;
  const next_attempt_at = new Date(clock.now() + pauseMs).toISOString();
  // Our own copy is no matter of the storage.
  if (isStorageFault(cause))
    await noteResult(db, object.storage_id, error, new Date(clock.now()).toISOString());
  if (concernsAll(cause, work)) await pauseStorage(db, { id: object.storage_id }, clock.now());
  if (work === 'delete' && attempts >= mostDeletions) {
    await deleteObject(db, object.id);
    await deleteUnused(db, object.storage_id);
    metrics.attempt(work, 'given_up');
    log.error(
      { ...facts, error },
      'a recording could not be deleted in its storage; delete the object there',
    );
    return;
  }
  // Not what was marked for deletion meanwhile: that is due now.
  await changeObject(db, object, { attempts, next_attempt_at });
  metrics.attempt(work, 'again');
  log.warn({ ...facts, error, attempts, next_attempt_at }, `the storage of recordings failed to ${work} one`);
}
