import type { ApiErrorCode } from '#shared/errors.ts';

/** A command that cannot be carried out for a reason that has a code of its own in the API. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
  readonly code: ApiErrorCode;

  constructor(code: ApiErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
