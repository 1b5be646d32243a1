/**
 * Objects in a bucket of an S3-compatible server: the requests that recordings need (Amazon S3 API Reference), each over
 * `sendOutgoing`. Answers are bounded, and every request has an end.
 */
import type { BlockList } from 'node:net';
import { OutgoingFailure } from '#outgoing/failure.ts';
import { sendOutgoing } from '#outgoing/request.ts';
import type { Clock } from '#shared/clock.ts';
import {
  completion,
  partsIn,
  S3Failure,
  type StoredPart,
  UnusableAnswer,
  uploadIdOf,
  uploadsIn,
} from './answers.ts';
import { encoded, type S3Credentials, signed } from './signature.ts';

export interface Bucket extends S3Credentials {
  /** http or https; a path in it comes before the bucket. */
  readonly url: string;
  readonly bucket: string;
  /** Whether the bucket is in the path, not in the host name. */
  readonly pathStyle: boolean;
  /** Networks that may be contacted although they are otherwise forbidden; null: the operator named the target. */
  readonly allowedTargets: BlockList | null;
}

/** One request, ms: a part within it needs 0.6 Mbit/s. */
const requestTimeoutMs = 120_000;
/** Of an answer that is no content of an object. */
const mostAnswerBytes = 1_048_576;
/** Of an answer that is no success. */
const mostFailureBytes = 65_536;
/** Unfinished uploads of one key that are aborted at once: more than one are left only by a server that invents them. */
const mostUploads = 10;
/** Parts of an upload; the most of a request that lists them. */
const mostParts = 1_000;

interface Sent {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly mostBytes?: number;
}

export class S3Client {
  readonly #clock: Clock;
  readonly #bucket: Bucket;
  readonly #timeoutMs: number;

  constructor(clock: Clock, bucket: Bucket, timeoutMs = requestTimeoutMs) {
    this.#clock = clock;
    this.#bucket = bucket;
    this.#timeoutMs = timeoutMs;
  }

  async put(key: string, body: Uint8Array, signal: AbortSignal): Promise<void> {
    await this.#send({ method: 'PUT', key, body }, signal);
  }

  /** The octets `from..to`; fewer at the end. @throws S3Failure with 404 when there is no object, 416 beyond its end */
  async read(key: string, from: number, to: number, signal: AbortSignal): Promise<Buffer> {
    const headers = { range: `bytes=${from}-${to - 1}` };
    const mostBytes = Math.max(to - from, 65_536);
    const { status, body } = await this.#send({ method: 'GET', key, headers, mostBytes }, signal);
    if (status === 206 && body.length <= to - from) return body;
    throw new UnusableAnswer(
      `the storage answered ${status} to a request with Range, not 206 with that part`,
    );
  }

  /** Whether there is an object of exactly this size. */
  async has(key: string, size: number, signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.read(key, size - 1, size + 1, signal)).length === 1;
    } catch (error) {
      if (error instanceof S3Failure && (error.status === 404 || error.status === 416)) return false;
      throw error;
    }
  }

  /** Also when there is none. */
  async delete(key: string, signal: AbortSignal): Promise<void> {
    await absentIsFine(this.#send({ method: 'DELETE', key }, signal));
  }

  async createUpload(key: string, signal: AbortSignal): Promise<string> {
    const { body } = await this.#send({ method: 'POST', key, query: { uploads: '' } }, signal);
    return uploadIdOf(body.toString('utf8'));
  }

  async putPart(
    key: string,
    uploadId: string,
    part: number,
    body: Uint8Array,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#send({ method: 'PUT', key, query: { partNumber: String(part), uploadId }, body }, signal);
  }

  /** The parts of an upload, by number; null when there is no such upload. */
  async parts(key: string, uploadId: string, signal: AbortSignal): Promise<Map<number, StoredPart> | null> {
    const sent = { method: 'GET', key, query: { 'max-parts': String(mostParts), uploadId } } as const;
    const answer = await absentIsFine(this.#send(sent, signal));
    if (answer === null) return null;
    return new Map(partsIn(answer.body.toString('utf8'), mostParts).map((part) => [part.number, part]));
  }

  /** @throws S3Failure also when the server answered 200 and failed after that, as it may */
  async completeUpload(
    key: string,
    uploadId: string,
    parts: readonly StoredPart[],
    signal: AbortSignal,
  ): Promise<void> {
    const headers = { 'content-type': 'application/xml' };
    const sent = { method: 'POST', key, query: { uploadId }, headers, body: completion(parts) } as const;
    const { status, body } = await this.#send(sent, signal);
    const text = body.toString('utf8');
    if (!text.includes('<CompleteMultipartUploadResult')) throw new S3Failure(status, text);
  }

  /** Ends uploads of this key that nothing will complete, with their parts. */
  async abortUploads(key: string, signal: AbortSignal): Promise<void> {
    const query = { 'max-uploads': String(mostUploads), prefix: key, uploads: '' };
    const { body } = await this.#send({ method: 'GET', key: '', query }, signal);
    for (const upload of uploadsIn(body.toString('utf8'), mostUploads)) {
      if (upload.key !== key) continue;
      await absentIsFine(this.#send({ method: 'DELETE', key, query: { uploadId: upload.id } }, signal));
    }
  }

  async #send(sent: Sent, signal: AbortSignal): Promise<{ status: number; body: Buffer }> {
    const { method, key, query = {}, headers = {}, body = '', mostBytes = mostAnswerBytes } = sent;
    const url = this.#urlOf(key, query);
    const now = new Date(this.#clock.now());
    const answer = await sendOutgoing(
      { clock: this.#clock, allowedTargets: this.#bucket.allowedTargets },
      {
        method,
        url,
        headers: signed({ method, url, headers, body }, this.#bucket, now),
        body: body.length === 0 ? null : body,
        timeoutMs: this.#timeoutMs,
        mostBytes,
        mostFailureBytes,
        signal,
      },
    );
    if (answer.status < 200 || answer.status > 299)
      throw new S3Failure(answer.status, answer.body.toString('utf8'), answer.location);
    if (answer.cut) throw new UnusableAnswer(`the storage's answer is longer than ${mostBytes} octets`);
    return answer;
  }

  #urlOf(key: string, query: Readonly<Record<string, string>>): URL {
    const { url, bucket, pathStyle } = this.#bucket;
    const base = pathStyle ? new URL(url) : withBucketInHost(url, bucket);
    if (base === null) throw new OutgoingFailure('refused', `${bucket}.${new URL(url).host} is no host name`);
    const segments = [...(pathStyle ? [bucket] : []), ...(key === '' ? [] : key.split('/'))];
    base.pathname = `${base.pathname.replace(/\/+$/, '')}/${segments.map(encoded).join('/')}`;
    base.search = Object.entries(query)
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .join('&');
    return base;
  }
}

/** Null when that is no host name: setting it changes nothing then, and the request would go to the host without the bucket. */
export function withBucketInHost(url: string, bucket: string): URL | null {
  const base = new URL(url);
  const hostname = `${bucket}.${base.hostname}`;
  base.hostname = hostname;
  return base.hostname === hostname ? base : null;
}

/** Null: the server says that there is no such thing. */
async function absentIsFine<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof S3Failure && error.status === 404 && error.code !== 'NoSuchBucket') return null;
    throw error;
  }
}
