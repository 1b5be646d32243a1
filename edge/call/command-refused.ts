import type { ApiErrorCode } from '#shared/errors.ts';

/** A command that failed for a reason with its own API error code. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
  readonly code: ApiErrorCode;

  constructor(code: ApiErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
