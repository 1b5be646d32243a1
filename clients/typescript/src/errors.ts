/** What can go wrong with a request. */

/** One error of a response. */
export interface ErrorItem {
  /** Such as `NUMBER_NOT_FOUND`; docs/errors.md says what to do. */
  readonly code: string;
  readonly message: string;
  /** The place that it is about: `/body/member`, `?query`, `:path` or `@header`; null: none in particular. */
  readonly field: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Every error of this client. */
export class TrunklineError extends Error {
  override readonly name: string = 'TrunklineError';
}

/** The API answered with an error. */
export class ApiError extends TrunklineError {
  override readonly name = 'ApiError';
  /** HTTP status. */
  readonly status: number;
  /** Of the first error. */
  readonly code: string;
  readonly field: string | null;
  /** All of them, at most 20. */
  readonly errors: readonly ErrorItem[];
  /** For the operator, to find the request in the log. */
  readonly requestId: string | null;
  /** Seconds to wait, where the API says so. */
  readonly retryAfterS: number | null;

  constructor(
    status: number,
    errors: readonly ErrorItem[],
    about: { readonly requestId: string | null; readonly retryAfterS: number | null },
  ) {
    const [first] = errors;
    const code = first?.code ?? `HTTP_${status}`;
    super(
      first ? `${code}: ${first.message}` : `The response has the status ${status}, and no error of the API.`,
    );
    this.status = status;
    this.code = code;
    this.field = first?.field ?? null;
    this.errors = errors;
    this.requestId = about.requestId;
    this.retryAfterS = about.retryAfterS;
  }
}

/** No answer came: the server was not reached, or the connection broke. `cause` has the reason. */
export class ConnectionError extends TrunklineError {
  override readonly name = 'ConnectionError';
}

/** The answer did not come within `timeoutMs`. */
export class TimeoutError extends TrunklineError {
  override readonly name = 'TimeoutError';
}

/** A webhook is not from this API, was altered, or is too old. */
export class WebhookError extends TrunklineError {
  override readonly name = 'WebhookError';
}

export async function apiErrorOf(response: Response): Promise<ApiError> {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError(response.status, errorItems(await response.json().catch(() => null)), {
    requestId: response.headers.get('x-request-id'),
    retryAfterS: Number.isFinite(seconds) && seconds >= 0 ? seconds : null,
  });
}

/** The errors of a body, in the form of any group of the API; none in another body, such as a proxy's. */
export function errorItems(body: unknown): ErrorItem[] {
  if (!isRecord(body) || !Array.isArray(body.errors)) return [];
  return body.errors.filter(isRecord).map(({ code, message, details }) => {
    const about = isRecord(details) ? details : {};
    const field = typeof about.path === 'string' ? about.path : null;
    return { code: String(code), message: String(message), field, details: about };
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
