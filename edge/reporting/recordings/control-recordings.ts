/** Control's interface for recordings, as an edge uses it: begin, parts, complete. */
import { boundedBody } from '#shared/bounded-body.ts';
import type { Clock } from '#shared/clock.ts';
import { fits, integer, objectOf, oneOf, type Shaped } from '#shared/shapes.ts';

/** Time for one answer, ms: control reads a whole recording before it answers that it is complete. */
const answerMs = 120_000;
const mostAnswerBytes = 65_536;

const storedShape = objectOf(
  { state: oneOf('uploading', 'ready', 'deleted'), received: integer() },
  {},
  true,
);
const answerShape = objectOf({ data: storedShape }, {}, true);

/** What control has of a recording. */
export type StoredRecording = Shaped<typeof storedShape>;

/** Control answered that it will never take this. */
export class Refused extends Error {}

/** Control answered, but not as hoped: others may be taken. */
class Answered extends Error {}

/** Control cannot be reached, or did not answer in time: others would fail as well. */
export class Unreachable extends Error {}

export interface ControlRecordingsOptions {
  /** http(s) base URL of the control plane */
  readonly controlUrl: string;
  readonly edgeToken: string;
  readonly clock: Clock;
  /** Ends requests that are under way. */
  readonly ending: AbortSignal;
}

/** All methods throw `Refused`, `Unreachable`, or another Error when control answered otherwise. */
export class ControlRecordings {
  readonly #options: ControlRecordingsOptions;

  constructor(options: ControlRecordingsOptions) {
    this.#options = options;
  }

  /** @param header octets of the file up to its first chunk */
  begin(header: Buffer): Promise<StoredRecording> {
    return this.#ask('POST', '', JSON.stringify({ header: header.toString('base64') }));
  }

  /** Adds octets at the end of what control has. */
  async part(id: string, at: number, bytes: Buffer): Promise<StoredRecording> {
    const stored = await this.#ask('PUT', `/${id}?at=${at}`, bytes);
    if (stored.state === 'uploading' && stored.received <= at)
      throw new Answered('control took no octets of a part');
    return stored;
  }

  complete(id: string): Promise<StoredRecording> {
    return this.#ask('POST', `/${id}/complete`, '{}');
  }

  async #ask(method: 'POST' | 'PUT', path: string, body: string | Buffer): Promise<StoredRecording> {
    const { controlUrl, edgeToken, clock, ending } = this.#options;
    const limit = new AbortController();
    const timer = clock.after(answerMs, () => limit.abort());
    const request = {
      method,
      redirect: 'error',
      signal: AbortSignal.any([limit.signal, ending]),
      headers: {
        authorization: `Bearer ${edgeToken}`,
        'content-type': typeof body === 'string' ? 'application/json' : 'application/octet-stream',
      },
      body: typeof body === 'string' ? body : new Uint8Array(body),
    } as const;
    try {
      return storedOf(await answerOf(new URL(`/v1/edge/recordings${path}`, controlUrl), request));
    } finally {
      timer.cancel();
    }
  }
}

/** @throws Unreachable */
async function answerOf(url: URL, request: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const answer = await fetch(url, request);
    const { bytes } = await boundedBody(answer, mostAnswerBytes);
    return { status: answer.status, text: new TextDecoder().decode(bytes) };
  } catch (error) {
    // fetch hides the actual error in `cause`.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const text = cause instanceof Error ? cause.message || cause.name : String(cause);
    throw new Unreachable(text, { cause: error });
  }
}

function storedOf({ status, text }: { readonly status: number; readonly text: string }): StoredRecording {
  if ([400, 413].includes(status)) throw new Refused(`control answered ${status}: ${text.slice(0, 200)}`);
  if (status !== 200) throw new Answered(`control answered ${status}`);
  const value: unknown = JSON.parse(text);
  if (!fits(answerShape, value)) throw new Answered('control answered with something else than a state');
  return value.data;
}
