/** A block of a recording is asked for again while its storage is busy, and not when it cannot be had. */
import { describe, expect, it } from 'vitest';
import { OutgoingFailure } from '#outgoing/failure.ts';
import { FakeClock } from '#shared/clock.ts';
import { S3Failure, UnusableAnswer } from '../s3/answers.ts';
import type { S3Client } from '../s3/client.ts';
import { Blocks } from './reading.ts';

const bytes = Buffer.from('a recording');
const slowDown = new S3Failure(503, '<Error><Code>SlowDown</Code></Error>');
const reset = new OutgoingFailure('network', 'closed the connection');

/** @param failures of the first requests */
function blocksOf(failures: readonly Error[]) {
  const clock = new FakeClock();
  const asked: number[] = [];
  const client: Pick<S3Client, 'read'> = {
    read: async (_key, from, to) => {
      const failure = failures[asked.length];
      asked.push(clock.elapsed());
      if (failure) throw failure;
      return bytes.subarray(from, to);
    },
  };
  const source = { client: client as S3Client, key: 'k', size: bytes.length };
  return { blocks: new Blocks(source, clock), clock, asked };
}

async function readAll(failures: readonly Error[], signal = new AbortController().signal) {
  const { blocks, clock, asked } = blocksOf(failures);
  const reading = blocks.read(0, bytes.length, signal).then(
    (read) => read.toString(),
    (error: Error) => error,
  );
  for (let i = 0; i < 5; i++) {
    await new Promise(setImmediate);
    clock.advance(1_000);
  }
  return { read: await reading, asked: asked.length };
}

describe('a block', () => {
  it.each([
    ['503 SlowDown', slowDown],
    ['500 InternalError', new S3Failure(500, '')],
    ['429', new S3Failure(429, '')],
    ['a lost connection', reset],
  ])('is read after one or two failures that pass: %s', async (_, failure) => {
    expect(await readAll([failure])).toEqual({ read: bytes.toString(), asked: 2 });
    expect(await readAll([failure, reset])).toEqual({ read: bytes.toString(), asked: 3 });
  });

  it('is given up after the third', async () => {
    expect(await readAll([slowDown, reset, slowDown, reset])).toEqual({ read: slowDown, asked: 3 });
  });

  it.each([
    ['404', new S3Failure(404, '')],
    ['403', new S3Failure(403, '')],
    ['a time-out', new OutgoingFailure('timeout', 'no answer')],
    ['a forbidden target', new OutgoingFailure('refused', 'forbidden')],
    ['an answer of something else', new UnusableAnswer('no 206')],
  ])('is asked for once when the failure stays: %s', async (_, failure) => {
    expect(await readAll([failure])).toEqual({ read: failure, asked: 1 });
  });

  it('is not asked for again when its reader has gone', async () => {
    const gone = new AbortController();
    gone.abort(new Error('gone'));
    expect(await readAll([slowDown], gone.signal)).toEqual({ read: gone.signal.reason, asked: 1 });
  });
});
