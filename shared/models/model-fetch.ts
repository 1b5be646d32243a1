/**
 * `fetch` for a language model's server with limits on time, size, retries and concurrency.
 *
 *     enter the gate -> attempt --2xx--> body, watched to its end -> leave the gate
 *                        ^   | 408, 425, 429, 5xx, network
 *                        +---+ after a pause, up to `maxRetries` times and `timeoutMs` in all
 *
 * There is no retry once the body has started, because its first words may have been spoken.
 */
import type { Clock } from '#shared/clock.ts';
import type { RequestGate } from './gate.ts';
import { type ModelFailure, ModelUnavailable } from './model-unavailable.ts';

export interface ModelTransport {
  readonly model: string;
  /** origin of the server, for errors */
  readonly server: string;
  /** redacted from the server's text; null: none */
  readonly apiKey: string | null;
  readonly clock: Clock;
  /** 0..1, jitter of the pauses */
  readonly random: () => number;
  readonly gate: RequestGate;
  /** time limit until the response starts, including pauses and retries, then between two parts of it, ms */
  readonly timeoutMs: number;
  /** retries after the first attempt */
  readonly maxRetries: number;
  readonly maxResponseBytes: number;
  /** Called once per attempt. */
  readonly attempted: (outcome: 'ok' | ModelFailure) => void;
}

type Attempt =
  | { readonly response: Response }
  | { readonly failure: ModelUnavailable; readonly again: boolean; readonly retryAfterMs: number | null };

const firstPauseMs = 500;
const longestPauseMs = 10_000;
/** Time limit of a whole response, ms: a slow trickle must not occupy the gate for longer. */
const longestAnswerMs = 300_000;
/** maximum characters of a server's error text in an error */
const quoted = 300;

/** @throws ModelUnavailable, or the reason of `init.signal` */
export function modelFetch(transport: ModelTransport): typeof fetch {
  return async (input, init = {}) => {
    const signal = init.signal ?? new AbortController().signal;
    const deadline = transport.clock.elapsed() + transport.timeoutMs;
    const leave = await transport.gate.enter(transport.timeoutMs, signal);
    if (!leave) {
      transport.attempted('busy');
      throw unavailable(transport, 'busy', 'too many concurrent requests (LLM_CONCURRENCY)');
    }
    try {
      return await persist(transport, input, { ...init, signal }, deadline, leave);
    } catch (error) {
      leave();
      throw error;
    }
  };
}

async function persist(
  transport: ModelTransport,
  input: string | URL | Request,
  init: RequestInit & { readonly signal: AbortSignal },
  deadline: number,
  leave: () => void,
): Promise<Response> {
  const { clock, random, maxRetries } = transport;
  for (let retry = 0; ; retry++) {
    const result = await attempt(transport, input, init, deadline, leave);
    if ('response' in result) return result.response;
    const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** retry) * (0.75 + random() / 2);
    const wanted = result.retryAfterMs ?? pause;
    const late = clock.elapsed() + wanted >= deadline;
    if (!result.again || late || retry >= maxRetries) throw result.failure;
    await waited(clock, wanted, init.signal);
  }
}

async function attempt(
  transport: ModelTransport,
  input: string | URL | Request,
  init: RequestInit & { readonly signal: AbortSignal },
  deadline: number,
  leave: () => void,
): Promise<Attempt> {
  const { signal } = init;
  const watch = new Watch(transport, signal, deadline - transport.clock.elapsed());
  try {
    const response = await fetch(input, { ...init, redirect: 'error', signal: watch.signal });
    watch.alive();
    if (response.ok) {
      transport.attempted('ok');
      const body = watched(transport, response, watch, leave);
      return { response: new Response(body, { status: response.status, headers: response.headers }) };
    }
    const why = `status ${response.status} ${await said(transport, response)}`.trim();
    watch.end();
    transport.attempted('refused');
    const { status } = response;
    return {
      failure: unavailable(transport, 'refused', why),
      again: status === 408 || status === 425 || status === 429 || status >= 500,
      retryAfterMs: retryAfter(response.headers.get('retry-after'), transport.clock.now()),
    };
  } catch (error) {
    watch.end();
    signal.throwIfAborted();
    const failure = failed(transport, watch, error);
    transport.attempted(failure.failure);
    return { failure, again: failure.failure !== 'timeout', retryAfterMs: null };
  }
}

/** Aborts an attempt when nothing arrives for too long. */
class Watch {
  readonly #transport: ModelTransport;
  readonly #late = new AbortController();
  readonly signal: AbortSignal;
  readonly #whole;
  #timer;

  /** @param firstMs time limit until the response starts */
  constructor(transport: ModelTransport, signal: AbortSignal, firstMs: number) {
    this.#transport = transport;
    this.signal = AbortSignal.any([signal, this.#late.signal]);
    this.#timer = this.#arm(firstMs);
    this.#whole = this.#arm(longestAnswerMs);
  }

  get expired(): boolean {
    return this.#late.signal.aborted;
  }

  /** Data arrived: restarts the timer. */
  alive(): void {
    this.#timer.cancel();
    this.#timer = this.#arm(this.#transport.timeoutMs);
  }

  end(): void {
    this.#timer.cancel();
    this.#whole.cancel();
  }

  #arm(ms: number) {
    return this.#transport.clock.after(ms, () => this.#late.abort());
  }
}

/** A response body with limits on time and size. `over` is called once, at its end. */
function watched(
  transport: ModelTransport,
  response: Response,
  watch: Watch,
  over: () => void,
): ReadableStream<Uint8Array> {
  const reader = response.body?.getReader();
  let size = 0;
  const end = () => {
    watch.end();
    over();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const next = await reader?.read();
        if (!next || next.done) {
          end();
          controller.close();
          return;
        }
        watch.alive();
        size += next.value.length;
        if (size > transport.maxResponseBytes) {
          throw unavailable(
            transport,
            'nonsense',
            `the answer is larger than ${transport.maxResponseBytes} bytes`,
          );
        }
        controller.enqueue(next.value);
      } catch (error) {
        end();
        reader?.cancel().catch(() => undefined);
        controller.error(error instanceof ModelUnavailable ? error : failed(transport, watch, error));
      }
    },
    async cancel() {
      end();
      await reader?.cancel();
    },
  });
}

function failed(transport: ModelTransport, watch: Watch, error: unknown): ModelUnavailable {
  if (watch.expired)
    return unavailable(transport, 'timeout', `no answer within ${transport.timeoutMs} ms`, error);
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  const why = error instanceof Error ? error.message : String(error);
  return unavailable(transport, 'network', inner === '' ? why : `${why}: ${inner}`, error);
}

function unavailable(
  transport: ModelTransport,
  failure: ModelFailure,
  why: string,
  cause?: unknown,
): ModelUnavailable {
  const { model, server } = transport;
  return new ModelUnavailable(failure, model, server, why, cause === undefined ? undefined : { cause });
}

/** The start of an error response's body, without the key, which some servers repeat. */
async function said(transport: ModelTransport, response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (reader && text.length < 4 * quoted) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  await reader?.cancel();
  const { apiKey } = transport;
  const plain = apiKey === null ? text : text.replaceAll(apiKey, '********');
  return plain.slice(0, quoted).replace(/\s+/g, ' ').trim();
}

/** RFC 9110 section 10.2.3, in ms from now; null when absent or invalid. */
function retryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

function waited(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => {
      signal.removeEventListener('abort', aborted);
      resolve();
    });
    const aborted = () => {
      timer.cancel();
      reject(signal.reason);
    };
    signal.addEventListener('abort', aborted, { once: true });
  });
}
