/** A request that did not succeed: what the API said, and what helps. */
import { errorItems } from '../../clients/typescript/src/errors.ts';
import { texts } from '../text/texts.ts';

export interface Problem {
  /** HTTP status; 0: no answer came. */
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** What the reader can do; null: nothing is known to help. */
  readonly helps: string | null;
  /** For the operator, to find the request in the log. */
  readonly requestId: string | null;
  /** Seconds after which the API wants to be asked again. */
  readonly retryAfterS?: number;
  /** Every error that names a place in the body, as a JSON pointer. */
  readonly places?: readonly { readonly path: string; readonly message: string }[];
}

export class RequestFailed extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** What the page itself does not accept: no request was sent. */
export function pageProblem(code: string, message: string, helps: string | null): Problem {
  return { status: 0, code, message, helps, requestId: null };
}

export function problemOf(error: unknown): Problem {
  if (error instanceof RequestFailed) return error.problem;
  const message = error instanceof Error ? error.message : String(error);
  return pageProblem('PAGE', message, texts.errors.reload);
}

export const noAnswer: Problem = pageProblem('NO_ANSWER', texts.errors.noAnswer, texts.errors.noAnswerHelps);

/** From the body of an error response, in the form of any group of the API. */
export async function readProblem(response: Response): Promise<Problem> {
  const errors = errorItems(await response.json().catch(() => null));
  const [first] = errors;
  const code = first?.code ?? `HTTP_${response.status}`;
  const retryAfterS = Number(response.headers.get('retry-after'));
  return {
    status: response.status,
    code,
    message: first?.message ?? texts.errors.unreadable(response.status),
    helps: await helpFor(code, retryAfterS),
    requestId: response.headers.get('x-request-id'),
    ...(retryAfterS > 0 && { retryAfterS }),
    places: errors.flatMap(({ field, message }) => (field === null ? [] : [{ path: field, message }])),
  };
}

async function helpFor(code: string, waitS: number): Promise<string | null> {
  const own = texts.errors.advice[code];
  if (own) return own;
  if (waitS > 0) return texts.errors.wait(waitS);
  // Fetched with the first error, so that the first screen does not wait for it.
  const found = await import('virtual:advice').catch(() => null);
  return found?.advice[code]?.replaceAll('`', '') ?? null;
}
