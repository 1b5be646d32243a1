/** Sends requests, again where that is safe, and turns failures into errors. */
import { ApiError, apiErrorOf, ConnectionError, TimeoutError, TrunklineError } from './errors.ts';
import { pauseBefore, takesKey } from './retries.ts';
import { methodAndPath } from './url.ts';

export interface ClientOptions {
  /** A key of the organization (`tk_…`); undefined, as of a variable that is not set, is refused. */
  readonly apiKey: string | undefined;
  /** Address of the control plane; default: `http://127.0.0.1:8080` */
  readonly baseUrl?: string | undefined;
  /** Of one attempt, until its whole answer is there; default: 30 s */
  readonly timeoutMs?: number;
  /** After a failed attempt; default: 2 */
  readonly maxRetries?: number;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly maxRetries?: number;
  /** Of a POST; default: a random one, so that a repetition does not do the work twice. */
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SentParts {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
  /** JSON, or a form with a file. */
  readonly body?: unknown;
}

type Target = ReturnType<typeof methodAndPath>;

/** One word of printable ASCII characters. */
const keyForm = /^[\x21-\x7e]+$/;

const defaults = { baseUrl: 'http://127.0.0.1:8080', timeoutMs: 30_000, maxRetries: 2 };

export class Transport {
  readonly #apiKey: string;
  readonly #baseUrl: string;
  readonly #timeoutMs: number;
  readonly #maxRetries: number;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    const apiKey = options.apiKey?.trim();
    if (!apiKey) throw new TrunklineError('apiKey is missing');
    // fetch would say so with the whole key in its message.
    if (!keyForm.test(apiKey)) throw new TrunklineError('apiKey has characters that are in no key');
    this.#apiKey = apiKey;
    this.#baseUrl = (options.baseUrl ?? defaults.baseUrl).replace(/\/+$/, '');
    this.#timeoutMs = options.timeoutMs ?? defaults.timeoutMs;
    this.#maxRetries = options.maxRetries ?? defaults.maxRetries;
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
  }

  /**
   * The JSON of the answer, or the response itself when it is a file or a stream.
   * @throws ApiError, ConnectionError, TimeoutError; TrunklineError for a path that cannot be; the signal's reason when
   * it aborts
   */
  async request(name: string, parts: SentParts, options: RequestOptions): Promise<unknown> {
    const { maxRetries = this.#maxRetries, signal } = options;
    const idempotencyKey = takesKey(name) ? (options.idempotencyKey ?? crypto.randomUUID()) : null;
    const target = methodAndPath(name, parts.path, parts.query);
    for (let sent = 1; ; sent++) {
      try {
        return await this.#once(target, parts, options, idempotencyKey);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof TrunklineError)) throw error;
        const { status = null, retryAfterS = null } = error instanceof ApiError ? error : {};
        const pauseMs = pauseBefore({ name, sent, maxRetries, status, retryAfterS }, Math.random());
        if (pauseMs === null) throw error;
        await pause(pauseMs, signal);
      }
    }
  }

  /** One attempt, whose response may go on: an event stream. The time limit is for its headers. */
  async open(name: string, parts: SentParts, options: RequestOptions): Promise<Response> {
    const timeout = new AbortController();
    const { timeoutMs = this.#timeoutMs } = options;
    const timer = setTimeout(() => timeout.abort(), timeoutMs);
    try {
      return await this.#send(
        methodAndPath(name, parts.path, parts.query),
        parts,
        options,
        null,
        timeout.signal,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async #once(
    target: Target,
    parts: SentParts,
    options: RequestOptions,
    key: string | null,
  ): Promise<unknown> {
    const { timeoutMs = this.#timeoutMs } = options;
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs);
    try {
      const response = await this.#send(target, parts, options, key, timeout.signal);
      const type = response.headers.get('content-type') ?? '';
      if (!/^application\/json\b/.test(type)) return response;
      return await read(response, timeout.signal, options.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  async #send(
    { method, path }: Target,
    parts: SentParts,
    { headers = {}, signal }: RequestOptions,
    key: string | null,
    timeout: AbortSignal,
  ): Promise<Response> {
    const isForm = typeof FormData !== 'undefined' && parts.body instanceof FormData;
    const hasBody = method !== 'GET' && parts.body !== undefined;
    const signals = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const init: RequestInit = {
      method,
      signal: signals,
      headers: {
        authorization: `Bearer ${this.#apiKey}`,
        // fetch writes the type of a form, with its boundary.
        ...(hasBody && !isForm && { 'content-type': 'application/json' }),
        ...(key !== null && { 'idempotency-key': key }),
        ...headers,
      },
      ...(hasBody && { body: isForm ? (parts.body as FormData) : JSON.stringify(parts.body) }),
    };
    const response = await this.#fetch(this.#baseUrl + path, init).catch((error: unknown) => {
      throw failure(error, timeout, signal, this.#baseUrl);
    });
    if (!response.ok) throw await apiErrorOf(response);
    return response;
  }
}

async function read(response: Response, timeout: AbortSignal, signal?: AbortSignal): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    throw failure(error, timeout, signal, new URL(response.url).origin);
  }
}

function failure(
  error: unknown,
  timeout: AbortSignal,
  signal: AbortSignal | undefined,
  server: string,
): unknown {
  if (signal?.aborted) return signal.reason;
  if (timeout.aborted) return new TimeoutError(`no answer from ${server} in time`, { cause: error });
  // fetch says "fetch failed", and why in its cause.
  const { cause, message } = error instanceof Error ? error : new Error(String(error));
  const why = cause instanceof Error ? cause.message : message;
  return new ConnectionError(`no answer from ${server}: ${why}`, { cause: error });
}

/** @throws the signal's reason when it aborts */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, ms);
    if (signal?.aborted) aborted();
    else signal?.addEventListener('abort', aborted, { once: true });
  });
}
