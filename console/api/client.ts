/** The one way to the API: paths, bodies and answers typed as in the SDK, the session's token, errors as problems. */
import { signal } from '@preact/signals';
import type { Answer, OperationName, Parts } from '../../clients/typescript/src/types.ts';
import { methodAndPath } from '../../clients/typescript/src/url.ts';
import { noAnswer, type Problem, RequestFailed, readProblem } from './problem.ts';

export type { Answer, OperationName };

export type RequestParts<Name extends OperationName> = Parts<Name> & {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Whether the last request got any answer. */
export const reachable = signal(true);

/** Of the session, for requests that change something. */
let csrfToken: string | null = null;
export function useCsrfToken(token: string | null): void {
  csrfToken = token;
}

let onSignedOut: () => void = () => undefined;
/** @param listener when the API no longer knows the session */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

/** @throws RequestFailed; DOMException AbortError when `signal` aborts it */
export async function request<Name extends OperationName>(
  name: Name,
  parts: RequestParts<Name>,
): Promise<Answer<Name>> {
  const response = await send(name, parts);
  return response.json();
}

/** As {@link request}, for answers that are not JSON. */
export async function send(name: string, parts: SentParts): Promise<Response> {
  const { method, path: url } = methodAndPath(name, parts.path, parts.query);
  const changes = method !== 'GET';
  const isForm = parts.body instanceof FormData;
  const headers = {
    // The browser writes the type of a form, with its boundary.
    ...(changes && parts.body !== undefined && !isForm && { 'content-type': 'application/json' }),
    ...(changes && csrfToken !== null && { 'x-csrf-token': csrfToken }),
    ...parts.headers,
  };
  const response = await fetch(url, {
    method,
    headers,
    ...(changes &&
      parts.body !== undefined && {
        body: parts.body instanceof FormData ? parts.body : JSON.stringify(parts.body),
      }),
    ...(parts.signal && { signal: parts.signal }),
  }).catch((error: unknown) => {
    if (parts.signal?.aborted) throw error;
    reachable.value = false;
    throw new RequestFailed(noAnswer);
  });
  reachable.value = true;
  if (response.ok) return response;
  const problem = await readProblem(response);
  if (isSignedOut(problem)) onSignedOut();
  throw new RequestFailed(problem);
}

type QueryValue = string | number | boolean | readonly string[] | undefined;

interface SentParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

function isSignedOut({ status, code }: Problem): boolean {
  return status === 401 && code === 'AUTH_FAILURE';
}
