/**
 * Whether a number can be ported, by its numbering plan. In North America the plan does not distinguish mobile from
 * landline numbers: these are `unknown`, unless the carrier is asked (carrier.ts). Pure.
 */
import { createRequire } from 'node:module';
import type { PhoneNumber } from 'libphonenumber-js/max';
import type { PortCheckQuery, PortCheckResult } from '#shared/api/porting.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';

const require = createRequire(import.meta.url);
const mostNumbers = 50;

const types: Readonly<Record<string, PortCheckResult['number_type']>> = {
  MOBILE: 'mobile',
  FIXED_LINE: 'landline',
  FIXED_LINE_OR_MOBILE: 'unknown',
  TOLL_FREE: 'toll-free',
  VOIP: 'voip',
};

/** @param countries portable numbering plans, upper case */
export function portabilityOf(number: string, countries: readonly string[]): PortCheckResult {
  // Loaded for the first check: the full plans of all countries.
  const plans: typeof import('libphonenumber-js/max') = require('libphonenumber-js/max');
  const parsed = plans.parsePhoneNumberFromString(number);
  const plan = parsed?.getType();
  const number_type = (plan && types[plan]) ?? 'unknown';
  const reason = refusal(parsed, plan, countries);
  return {
    phone_number: number,
    portable: reason === null,
    number_type,
    // A mobile number needs a transfer PIN or porting code to leave its carrier.
    pin_required: number_type === 'mobile',
    reason,
  };
}

function refusal(
  parsed: PhoneNumber | undefined,
  plan: string | undefined,
  countries: readonly string[],
): string | null {
  if (!parsed?.isValid()) return 'The number is not assigned in its numbering plan.';
  if (parsed.country === undefined) {
    if (plan !== 'TOLL_FREE' || parsed.countryCallingCode !== '1')
      return 'Numbers that belong to no country are not ported.';
  } else if (!countries.includes(parsed.country)) return `Numbers of ${parsed.country} are not ported.`;
  if (plan === undefined || types[plan] === undefined) {
    return `Numbers of this kind (${(plan ?? 'unknown').toLowerCase().replaceAll('_', ' ')}) are not ported.`;
  }
  return null;
}

/**
 * E.164 numbers without duplicates, in the given order. @throws ApiError INVALID_PHONE_NUMBERS listing the invalid ones
 */
export function requireNumbers(texts: readonly string[]): string[] {
  return [...new Set(readNumbers(texts))];
}

function readNumbers(texts: readonly string[]): string[] {
  const invalid = texts.filter((text) => toE164(text) === null);
  if (invalid.length > 0) throw ApiError.of('INVALID_PHONE_NUMBERS', { invalid });
  return texts.map((text) => toE164(text)).filter((number) => number !== null);
}

/**
 * The numbers of a query, repeated or separated by commas.
 * @throws ApiError INVALID_PARAMETER, INVALID_PHONE_NUMBERS
 */
export function numbersOfQuery(query: PortCheckQuery): string[] {
  const given = [query['phone_numbers[]'] ?? [], query.phone_numbers ?? []].flat();
  const texts = given.flatMap((part) => part.split(',')).filter((part) => part.trim() !== '');
  if (texts.length === 0) throw ApiError.invalid('?phone_numbers', 'required');
  if (texts.length > mostNumbers)
    throw ApiError.invalid('?phone_numbers', `must be at most ${mostNumbers} numbers`);
  return readNumbers(texts);
}
