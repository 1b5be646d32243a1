/** POST to an OpenAI-compatible server with limits on time, attempts and size; redirects are not followed. */
import { setTimeout as delay } from 'node:timers/promises';
import { boundedBody } from '#shared/bounded-body.ts';
import { SoundPace } from './sound-pace.ts';
import { SpeechError } from './speech.ts';

/** Access to an OpenAI-compatible server. */
export interface OpenAiServer {
  /** with or without `/v1`, such as `https://api.example.com/v1` */
  readonly baseUrl: string;
  /** null: no Authorization header */
  readonly apiKey: string | null;
  readonly model: string;
  /** Time limit of one attempt, including the body, ms. Default 15000. */
  readonly timeoutMs?: number;
  /** Retries after a network error, a time-out, 408, 429 or 5xx. Default 2. */
  readonly retries?: number;
  /** Pause before the first retry, doubled for each further one, ms. Default 250. */
  readonly retryDelayMs?: number;
}

type Attempt =
  | { readonly response: Uint8Array<ArrayBuffer>; readonly type: string; readonly cut: boolean }
  | { readonly again: boolean; readonly why: string };

/** Time limit for all attempts and pauses: a caller is waiting. */
const longestRequestMs = 30_000;
/** Pause before and between pieces of sound, ms: less than a call waits for its agent, so that another voice can speak. */
const longestPauseMs = 8_000;
/** Maximum response size, bytes: five minutes of speech at 24 kHz. */
const mostAnswerBytes = 16_777_216;
/** Maximum bytes of an error response in an error. */
const quotedBytes = 300;

/**
 * POSTs to `<base>/v1/<path>`.
 * @param mostBytes of the answer; `cut` says whether there were more
 * @throws SpeechError when no attempt succeeds
 */
export async function postOpenAi(
  server: OpenAiServer,
  path: string,
  body: () => string | FormData,
  mostBytes = mostAnswerBytes,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; type: string; cut: boolean }> {
  const base = server.baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
  const url = `${base}/v1/${path}`;
  const attempts = 1 + Math.max(0, server.retries ?? 2);
  const deadline = performance.now() + longestRequestMs;
  let why = '';
  for (let attempt = 0; attempt < attempts; attempt++) {
    const pauseMs = attempt === 0 ? 0 : (server.retryDelayMs ?? 250) * 2 ** (attempt - 1);
    const leftMs = deadline - performance.now() - pauseMs;
    if (leftMs <= 0) break;
    if (pauseMs > 0) await delay(pauseMs);
    const timeoutMs = Math.ceil(Math.min(server.timeoutMs ?? 15_000, leftMs));
    const result = await once(server, url, body(), timeoutMs, Math.min(mostBytes, mostAnswerBytes));
    if ('response' in result) return { bytes: result.response, type: result.type, cut: result.cut };
    why = result.why;
    if (!result.again) break;
  }
  throw new SpeechError(`the request to ${url} failed: ${why}`);
}

interface StreamOptions {
  /** Of the sound in the body. */
  readonly bytesPerMs: number;
  readonly signal: AbortSignal;
  /** Gets the Content-Type before the first octets. */
  readonly hasType: (type: string) => void;
}

/**
 * POSTs to `<base>/v1/<path>` and yields the body as it comes; one attempt, because a caller is waiting.
 * @throws SpeechError
 */
export async function* streamOpenAi(
  server: OpenAiServer,
  path: string,
  body: string,
  { bytesPerMs, signal, hasType }: StreamOptions,
): AsyncGenerator<Uint8Array> {
  const base = server.baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
  const url = `${base}/v1/${path}`;
  const timeoutMs = server.timeoutMs ?? longestPauseMs;
  const limit = new AbortController();
  const late = () => limit.abort();
  let timer = setTimeout(late, timeoutMs);
  const pace = new SoundPace();
  let asked = performance.now();
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(server.apiKey !== null && { authorization: `Bearer ${server.apiKey}` }),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, limit.signal]),
    });
    if (!response.ok) {
      const { bytes } = await boundedBody(response, quotedBytes);
      throw new SpeechError(`status ${response.status} ${new TextDecoder().decode(bytes)}`.trim());
    }
    const type = response.headers.get('content-type') ?? '';
    if (isText(type)) refuseText(type, (await boundedBody(response, quotedBytes)).bytes);
    hasType(type);
    let size = 0;
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer);
      timer = setTimeout(late, timeoutMs);
      size += chunk.length;
      if (size > mostAnswerBytes) throw new SpeechError(`its answer is larger than ${mostAnswerBytes} bytes`);
      if (!pace.takes(performance.now() - asked, chunk.length / bytesPerMs))
        throw new SpeechError('its sound comes too slowly');
      yield chunk;
      asked = performance.now();
    }
  } catch (error) {
    const why = limit.signal.aborted ? `no sound within ${timeoutMs} ms` : wordsOf(error);
    throw new SpeechError(`the request to ${url} failed: ${why}`);
  } finally {
    clearTimeout(timer);
    limit.abort();
  }
}

const isText = (type: string): boolean => /^(text\/|application\/json)/i.test(type);

/** Some servers and proxies tell of an error with status 200. @throws SpeechError for what cannot be sound */
export function refuseText(type: string, bytes: Uint8Array): void {
  if (!isText(type)) return;
  const text = new TextDecoder().decode(bytes.subarray(0, quotedBytes));
  throw new SpeechError(`the speech server answered with ${type} in place of sound: ${text}`);
}

async function once(
  server: OpenAiServer,
  url: string,
  body: string | FormData,
  timeoutMs: number,
  mostBytes: number,
): Promise<Attempt> {
  const headers: Record<string, string> = {};
  if (server.apiKey !== null) headers.authorization = `Bearer ${server.apiKey}`;
  if (typeof body === 'string') headers['content-type'] = 'application/json';
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      // A redirect could lead to a network that the operator did not name; it counts as an error response.
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { bytes, cut } = await boundedBody(response, response.ok ? mostBytes : quotedBytes);
    if (response.ok && cut && mostBytes === mostAnswerBytes)
      return { again: false, why: `its answer is larger than ${mostAnswerBytes} bytes` };
    if (response.ok) return { response: bytes, type: response.headers.get('content-type') ?? '', cut };
    const text = new TextDecoder().decode(bytes);
    const again = response.status === 408 || response.status === 429 || response.status >= 500;
    return { again, why: `status ${response.status} ${text}`.trim() };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError') {
      return { again: true, why: `no answer within ${timeoutMs} ms` };
    }
    return { again: true, why: wordsOf(error) };
  }
}

function wordsOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error instanceof Error ? error.message : String(error)}${cause}`;
}
