/** Tries a storage as its recordings will use it, with a small object, and says in words what is wrong. */
import { OutgoingFailure } from '#outgoing/failure.ts';
import type { StorageTrial } from '#shared/api/recording-storage.ts';
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import { S3Failure } from '../s3/answers.ts';
import type { S3Client } from '../s3/client.ts';
import { within } from './faults.ts';

type Step = NonNullable<StorageTrial['failed']>;

/** A whole trial, and the end of what a failed one leaves, ms: somebody waits for it. */
const trialMs = 20_000;
const cleaningMs = 10_000;

const content = Buffer.from('Trunkline wrote this to try the storage of recordings. It can be deleted.\n');

/** What to do, by the code of the server's answer. */
const advice: Readonly<Record<string, string>> = {
  AccessDenied:
    'allow s3:GetObject, s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload, s3:ListMultipartUploadParts, s3:ListBucket and s3:ListBucketMultipartUploads to this key',
  AuthorizationHeaderMalformed: 'check region',
  InvalidAccessKeyId: 'check access_key_id',
  NoSuchBucket: 'create the bucket, or check bucket and path_style',
  PermanentRedirect: 'check region and url: the bucket is elsewhere',
  RequestTimeTooSkewed: 'set the clock of this server or of the storage',
  SignatureDoesNotMatch: 'check secret_access_key and region',
};

/**
 * @param prefix of the key
 * @throws the reason of `signal`
 */
export async function tryStorage(
  client: S3Client,
  prefix: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<StorageTrial> {
  const key = `${prefix}trunkline-test-${newId()}`;
  let failed: Step = 'write';
  try {
    await within({ clock, ms: trialMs, signal }, async (limited) => {
      for (const [step, run] of stepsOf(client, key, limited)) {
        failed = step;
        await run();
      }
    });
    return { ok: true, failed: null, message: null };
  } catch (error) {
    // Also when nobody waits any more.
    const cleaning = { clock, ms: cleaningMs, signal: new AbortController().signal };
    await within(cleaning, async (limited) => {
      await client.abortUploads(key, limited).catch(() => undefined);
      await client.delete(key, limited);
    }).catch(() => undefined);
    signal.throwIfAborted();
    return { ok: false, failed, message: wordsOf(error) };
  }
}

function stepsOf(
  client: S3Client,
  key: string,
  signal: AbortSignal,
): readonly (readonly [Step, () => Promise<void>])[] {
  return [
    ['write', () => client.put(key, content, signal)],
    [
      'read',
      async () => {
        const read = await client.read(key, 1, content.length + 1, signal);
        if (!read.equals(content.subarray(1))) throw new Error('the storage answered with another content');
      },
    ],
    [
      'multipart',
      async () => {
        const id = await client.createUpload(key, signal);
        await client.putPart(key, id, 1, content, signal);
        if ((await client.parts(key, id, signal))?.get(1)?.size !== content.length)
          throw new Error('the storage does not list the part of an upload');
        await client.abortUploads(key, signal);
        if ((await client.parts(key, id, signal)) !== null)
          throw new Error('the storage does not list uploads by prefix, or does not abort them');
      },
    ],
    [
      'delete',
      async () => {
        await client.delete(key, signal);
        if (await client.has(key, content.length, signal)) throw new Error('the object is still there');
      },
    ],
  ];
}

/** What failed, and what to do about it. */
export function wordsOf(error: unknown): string {
  if (error instanceof S3Failure) {
    const what = advice[error.code];
    return what === undefined ? error.message : `${error.message} (${what})`;
  }
  if (error instanceof OutgoingFailure) return error.message;
  return error instanceof Error ? error.message : 'unknown';
}
