/** What can be wrong with a storage, whom it concerns, and how long it may take. */
import { OutgoingFailure } from '#outgoing/failure.ts';
import type { Clock } from '#shared/clock.ts';
import { S3Failure, UnusableAnswer } from '../s3/answers.ts';

/** Each of its answers came in time, and all together did not. */
class TooSlow extends Error {
  override readonly name = 'TooSlow';
}

/**
 * Runs work with a storage that ends after `ms`, or with `signal`: a server that is just fast enough for each request
 * would otherwise keep its place as long as it likes.
 * @throws TooSlow
 */
export async function within<T>(
  { clock, ms, signal }: { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = clock.after(ms, () => limit.abort());
  try {
    return await work(AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted) throw error;
    throw new TooSlow(`the storage was too slow: not done after ${Math.round(ms / 1000)} s`);
  } finally {
    timer.cancel();
  }
}

/** Whether the storage failed, and nothing of ours. */
export function isStorageFault(cause: unknown): cause is Error {
  return (
    cause instanceof OutgoingFailure ||
    cause instanceof S3Failure ||
    cause instanceof UnusableAnswer ||
    cause instanceof TooSlow
  );
}

/** Whether the same request may well succeed a moment later: 503 SlowDown is no outage, nor is one lost connection. */
export function isBusy(cause: unknown): boolean {
  if (cause instanceof S3Failure) return cause.status >= 500 || cause.status === 429;
  return cause instanceof OutgoingFailure && cause.kind === 'network';
}

/** Codes of failures that concern one object. Everything else is the same for all: the key, the bucket, the server. */
const ofOneObject: ReadonlySet<string> = new Set([
  'EntityTooLarge',
  'EntityTooSmall',
  'InvalidPart',
  'InvalidPartOrder',
  'InvalidRange',
  'NoSuchKey',
  'NoSuchUpload',
]);

/** Whether other recordings would fail too. */
export function concernsAll(cause: unknown, work: 'move' | 'delete'): boolean {
  if (!isStorageFault(cause)) return false;
  if (!(cause instanceof S3Failure)) return true;
  // A key that may not delete can still write: many deletions would hold up all that waits.
  if (work === 'delete' && cause.code === 'AccessDenied') return false;
  return !ofOneObject.has(cause.code) && !(cause.code === '' && cause.status === 413);
}
