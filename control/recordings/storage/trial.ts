/** Tries a storage as its recordings will use it, with a small object, and says in words what is wrong. */
import { OutgoingFailure } from '#outgoing/failure.ts';
import type { StorageTrial } from '#shared/api/recording-storage.ts';
import { newId } from '#shared/ids.ts';
import { S3Failure } from '../s3/answers.ts';
import type { S3Client } from '../s3/client.ts';

type Step = NonNullable<StorageTrial['failed']>;

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

/** @param prefix of the key */
export async function tryStorage(
  client: S3Client,
  prefix: string,
  signal: AbortSignal,
): Promise<StorageTrial> {
  const key = `${prefix}trunkline-test-${newId()}`;
  const steps: readonly [Step, () => Promise<void>][] = [
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
  for (const [failed, run] of steps) {
    try {
      await run();
    } catch (error) {
      await client.abortUploads(key, signal).catch(() => undefined);
      await client.delete(key, signal).catch(() => undefined);
      return { ok: false, failed, message: wordsOf(error) };
    }
  }
  return { ok: true, failed: null, message: null };
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
