/**
 * Brings a recording into a bucket, and deletes it there. Every step can be repeated: a kill at any point leaves an object,
 * an upload or nothing, and the next attempt goes on with the parts that are there.
 */
import { UnusableAnswer } from '../s3/answers.ts';
import type { S3Client } from '../s3/client.ts';

/** Parts of an upload; a smaller recording is one request. S3 wants 5 MiB at least. */
export const partBytes = 8 * 1_048_576;

/** What is to be brought is not here any more: deleted meanwhile, or its file was lost. */
export class Vanished extends Error {
  override readonly name = 'Vanished';
}

export interface Brought {
  readonly key: string;
  /** Octets. */
  readonly size: number;
  readonly read: (from: number, to: number) => Promise<Buffer>;
  readonly uploadId: string | null;
  /** Stores the id of an upload before its first part. */
  readonly keepUpload: (id: string) => Promise<void>;
  /** Of each part but the last, octets. */
  readonly partBytes: number;
}

/** Resolves when the whole recording is an object. */
export async function bring(client: S3Client, recording: Brought, signal: AbortSignal): Promise<void> {
  const { key, size, partBytes } = recording;
  // Nothing is changed there for a file that is not here.
  await exactly(recording, size - 1, size);
  if (size <= partBytes) await client.put(key, await exactly(recording, 0, size), signal);
  else if (!(await upload(client, recording, signal))) return;
  if (!(await client.has(key, size, signal)))
    throw new UnusableAnswer('the storage took the recording, and does not have all of it');
}

/** Also what an interrupted attempt has left. */
export async function remove(client: S3Client, key: string, signal: AbortSignal): Promise<void> {
  await client.abortUploads(key, signal);
  await client.delete(key, signal);
}

/** @returns false when an earlier attempt has completed it */
async function upload(client: S3Client, recording: Brought, signal: AbortSignal): Promise<boolean> {
  const { key, size, uploadId, keepUpload, partBytes } = recording;
  let id = uploadId;
  let parts = id === null ? null : await client.parts(key, id, signal);
  if (id !== null && parts === null && (await client.has(key, size, signal))) return false;
  if (id === null || parts === null) {
    // An attempt may have begun one and died before it stored the id.
    await client.abortUploads(key, signal);
    id = await client.createUpload(key, signal);
    await keepUpload(id);
    parts = new Map();
  }
  const count = Math.ceil(size / partBytes);
  const endOf = (part: number) => Math.min(size, part * partBytes);
  for (let part = 1; part <= count; part++) {
    const from = (part - 1) * partBytes;
    if (parts.get(part)?.size === endOf(part) - from) continue;
    await client.putPart(key, id, part, await exactly(recording, from, endOf(part)), signal);
  }
  const stored = await client.parts(key, id, signal);
  const whole = Array.from({ length: count }, (_, index) => stored?.get(index + 1)).filter(
    (part) => part !== undefined && part.size === endOf(part.number) - (part.number - 1) * partBytes,
  );
  if (whole.length < count) throw new UnusableAnswer('the storage does not have all parts of the recording');
  const all = whole.filter((part) => part !== undefined);
  await client.completeUpload(key, id, all, signal);
  return true;
}

async function exactly({ read }: Brought, from: number, to: number): Promise<Buffer> {
  const bytes = await read(from, to);
  if (bytes.length < to - from) throw new Vanished('its file is missing or shorter than it was');
  return bytes;
}
