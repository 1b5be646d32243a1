import { setTimeout as delay } from 'node:timers/promises';
import { SpeechError } from './speech.ts';

/** How an OpenAI-compatible server is reached. */
export interface OpenAiServer {
  /** with or without `/v1`, such as `https://api.example.com/v1` */
  readonly baseUrl: string;
  /** null: no Authorization header */
  readonly apiKey: string | null;
  readonly model: string;
  /** ms for one attempt, body included. Default 15000. */
  readonly timeoutMs?: number;
  /** Further attempts after a network error, a time-out, 408, 429 or 5xx. Default 2. */
  readonly retries?: number;
  /** ms before the first retry, doubled for each further one. Default 250. */
  readonly retryDelayMs?: number;
}

type Attempt =
  | { readonly response: Uint8Array<ArrayBuffer>; readonly type: string }
  | { readonly again: boolean; readonly why: string };

/** POSTs to `<base>/v1/<path>`. @throws SpeechError when no attempt succeeds */
export async function postOpenAi(
  server: OpenAiServer,
  path: string,
  body: () => string | FormData,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; type: string }> {
  const base = server.baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
  const url = `${base}/v1/${path}`;
  const attempts = 1 + Math.max(0, server.retries ?? 2);
  let why = '';
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await delay((server.retryDelayMs ?? 250) * 2 ** (attempt - 1));
    const result = await once(server, url, body());
    if ('response' in result) return { bytes: result.response, type: result.type };
    why = result.why;
    if (!result.again) break;
  }
  throw new SpeechError(`${url} did not serve the request: ${why}`);
}

async function once(server: OpenAiServer, url: string, body: string | FormData): Promise<Attempt> {
  const headers: Record<string, string> = {};
  if (server.apiKey !== null) headers.authorization = `Bearer ${server.apiKey}`;
  if (typeof body === 'string') headers['content-type'] = 'application/json';
  const timeoutMs = server.timeoutMs ?? 15_000;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.ok) return { response: bytes, type: response.headers.get('content-type') ?? '' };
    const text = new TextDecoder().decode(bytes.subarray(0, 300));
    const again = response.status === 408 || response.status === 429 || response.status >= 500;
    return { again, why: `status ${response.status} ${text}`.trim() };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'TimeoutError') {
      return { again: true, why: `no answer within ${timeoutMs} ms` };
    }
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
    return { again: true, why: `${error instanceof Error ? error.message : String(error)}${cause}` };
  }
}
