/** The number of a list's query. */
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';

/** @throws ApiError INVALID_PARAMETER */
export function numberOf(text: string): string {
  const number = toE164(text);
  if (number === null) throw ApiError.invalid('?phone_number', 'must be an E.164 number of 7 to 15 digits');
  return number;
}
