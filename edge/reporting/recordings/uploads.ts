/**
 * Sends finished recordings to control, the oldest first, one at a time and in parts, and deletes what control has.
 *
 *     <id>.part ──end of the call──> <id>.rec ──begin, parts, complete──> deleted
 *         └── a crash: the next start keeps what is whole ──┘
 *
 * Control says how much it has: after an outage of either side the next part is the one it lacks. What control refuses for
 * good stays as `<id>.refused`, for the operator.
 */
import { type FileHandle, open, readdir, rename, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { EdgeRecordingState } from '#shared/api/recordings.ts';
import { boundedBody } from '#shared/bounded-body.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import { ChunkScanner, completeSuffix, decodeHeader, growingSuffix } from '#shared/recording/format.ts';

const refusedSuffix = '.refused';
/** Of one request. */
const partBytes = 524_288;
const headBytes = 8_192;
/** How often the folder is looked at, ms. */
const lookEveryMs = 2_000;
/** Longest pause after failures, ms. */
const longestPauseMs = 60_000;
/** Time for one answer, ms: control reads a whole recording before it answers that it is complete. */
const answerMs = 120_000;
const mostAnswerBytes = 65_536;

export interface RecordingUploadsOptions {
  readonly folder: string;
  readonly room: { count(bytes: number): void; give(bytes: number): void };
  /** http(s) base URL of the control plane */
  readonly controlUrl: string;
  readonly edgeToken: string;
  readonly clock: Clock;
  readonly log: Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>;
  readonly count: (outcome: 'sent' | 'deleted' | 'refused' | 'failed') => void;
}

/** Control answered that it will never take this. */
class Refused extends Error {}

export class RecordingUploads {
  readonly #options: RecordingUploadsOptions;
  readonly #ending = new AbortController();
  #timer: Timer | null = null;
  #running: Promise<void> = Promise.resolve();
  #failures = 0;

  constructor(options: RecordingUploadsOptions) {
    this.#options = options;
  }

  /** Completes what an earlier process left, and counts it. Call before anything is recorded. */
  async recover(): Promise<void> {
    const { folder, room, log } = this.#options;
    for (const name of await this.#names()) {
      const path = join(folder, name);
      if (name.endsWith(growingSuffix)) {
        const whole = await wholeBytes(path);
        if (whole === 0) {
          await rm(path, { force: true });
          continue;
        }
        log.info({ file: name, octets: whole }, 'a recording of an earlier process was kept up to its end');
        await truncate(path, whole);
        await rename(path, path.slice(0, -growingSuffix.length) + completeSuffix);
      }
      room.count(await sizeOf(path.replace(growingSuffix, completeSuffix)));
    }
  }

  start(): void {
    this.#timer = this.#options.clock.after(lookEveryMs, () => {
      this.#running = this.#look();
    });
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#timer?.cancel();
    await this.#running;
  }

  async #look(): Promise<void> {
    const names = (await this.#names()).filter((name) => name.endsWith(completeSuffix)).sort();
    for (const name of names) {
      if (this.#ending.signal.aborted || !(await this.#sent(name))) break;
    }
    if (this.#ending.signal.aborted) return;
    const pause = Math.min(longestPauseMs, lookEveryMs * 2 ** Math.min(this.#failures, 10));
    this.#timer = this.#options.clock.after(pause, () => {
      this.#running = this.#look();
    });
  }

  /** Whether the next one may be tried. */
  async #sent(name: string): Promise<boolean> {
    const { folder, room, log, count } = this.#options;
    const path = join(folder, name);
    try {
      const size = await sizeOf(path);
      const outcome = await this.#send(path, name.slice(0, -completeSuffix.length), size);
      await rm(path, { force: true });
      room.give(size);
      count(outcome);
    } catch (error) {
      if (this.#ending.signal.aborted) return false;
      if (!(error instanceof Refused)) {
        this.#failures++;
        count('failed');
        log.warn({ file: name, error: textOf(error) }, 'a recording could not be sent; it is tried again');
        return false;
      }
      count('refused');
      log.error({ file: name, error: error.message }, 'control refuses a recording; it stays on this edge');
      await rename(path, path.slice(0, -completeSuffix.length) + refusedSuffix);
    }
    this.#failures = 0;
    return true;
  }

  async #send(path: string, id: string, size: number): Promise<'sent' | 'deleted'> {
    const file = await open(path, 'r');
    try {
      const head = decodeHeader(await readPart(file, 0, headBytes));
      if (!head) throw new Refused('the file has no header');
      const header = (await readPart(file, 0, head.length)).toString('base64');
      let { state, received } = await this.#ask('POST', '', JSON.stringify({ header }));
      while (state === 'uploading' && received < size) {
        const part = await readPart(file, received, Math.min(size, received + partBytes));
        const before = received;
        ({ state, received } = await this.#ask('PUT', `/${id}?at=${before}`, part));
        if (state === 'uploading' && received <= before) throw new Error('control took no octets of a part');
      }
      if (state === 'uploading') ({ state } = await this.#ask('POST', `/${id}/complete`, '{}'));
      return state === 'deleted' ? 'deleted' : 'sent';
    } finally {
      await file.close();
    }
  }

  async #ask(
    method: 'POST' | 'PUT',
    path: string,
    body: string | Buffer,
  ): Promise<{ state: 'uploading' | 'ready' | 'deleted'; received: number }> {
    const { controlUrl, edgeToken, clock } = this.#options;
    const limit = new AbortController();
    const timer = clock.after(answerMs, () => limit.abort());
    try {
      const answer = await fetch(new URL(`/v1/edge/recordings${path}`, controlUrl), {
        method,
        redirect: 'error',
        signal: AbortSignal.any([limit.signal, this.#ending.signal]),
        headers: {
          authorization: `Bearer ${edgeToken}`,
          'content-type': typeof body === 'string' ? 'application/json' : 'application/octet-stream',
        },
        body: typeof body === 'string' ? body : new Uint8Array(body),
      });
      const { bytes } = await boundedBody(answer, mostAnswerBytes);
      const text = new TextDecoder().decode(bytes);
      if ([400, 413].includes(answer.status))
        throw new Refused(`control answered ${answer.status}: ${text.slice(0, 200)}`);
      if (answer.status !== 200) throw new Error(`control answered ${answer.status}`);
      return Value.Parse(EdgeRecordingState, JSON.parse(text)).data;
    } finally {
      timer.cancel();
    }
  }

  async #names(): Promise<string[]> {
    return readdir(this.#options.folder).catch(() => []);
  }
}

/** Octets up to the end of the last whole chunk; 0 without a header. */
async function wholeBytes(path: string): Promise<number> {
  const file = await open(path, 'r');
  try {
    const head = decodeHeader(await readPart(file, 0, headBytes));
    if (!head) return 0;
    const scanner = new ChunkScanner(head.length);
    for (let at = head.length; ; at += partBytes) {
      const part = await readPart(file, at, at + partBytes);
      scanner.push(part);
      if (part.length < partBytes) return scanner.whole;
    }
  } finally {
    await file.close();
  }
}

/** The octets `from..to`, fewer at the end of the file. */
async function readPart(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, from + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path)).size;
}

/** fetch hides the actual error in `cause`. */
function textOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
