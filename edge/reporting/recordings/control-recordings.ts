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
export class Answered extends Error {}

export interface ControlRecordingsOptions {
  /** http(s) base URL of the control plane */
  readonly controlUrl: string;
  readonly edgeToken: string;
  readonly clock: Clock;
  /** Ends requests that are under way. */
  readonly ending: AbortSignal;
}

/** All methods throw `Refused`, `Answered`, or another Error when control cannot be reached. */
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
    try {
      const answer = await fetch(new URL(`/v1/edge/recordings${path}`, controlUrl), {
        method,
        redirect: 'error',
        signal: AbortSignal.any([limit.signal, ending]),
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
      if (answer.status !== 200) throw new Answered(`control answered ${answer.status}`);
      const value: unknown = JSON.parse(text);
      if (!fits(answerShape, value)) throw new Answered('control answered with something else than a state');
      return value.data;
    } finally {
      timer.cancel();
    }
  }
}
