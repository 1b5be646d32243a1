import { createRequire } from 'node:module';
import type * as PhoneNumbers from 'libphonenumber-js/min';
import { lazy } from '../lazy.ts';
import type { Variables } from './interfaces.ts';

/** The plans of all countries take 3 MiB in each thread, so they wait for the first call. */
const phoneNumbers = lazy((): typeof PhoneNumbers => createRequire(import.meta.url)('libphonenumber-js/min'));

export interface BuiltInFacts {
  readonly from: string;
  readonly to: string;
  readonly callId: string;
  /** IANA zone; an unknown one counts as UTC */
  readonly timezone: string;
  /** ms since the epoch */
  readonly now: number;
}

/**
 * The built-in variables of a conversation, without `input`, which the conversation itself maintains. `country` is
 * that of `from`. A number does not reveal more of a place: `city`, `state` and `zip` are ordinary variables.
 */
export function builtInVariables(facts: BuiltInFacts): Variables {
  const from = parsed(facts.from);
  const to = parsed(facts.to);
  return {
    now: localTime(facts.now, facts.timezone),
    now_utc: new Date(facts.now).toISOString(),
    short_from: from?.nationalNumber ?? facts.from,
    short_to: to?.nationalNumber ?? facts.to,
    from: facts.from,
    to: facts.to,
    call_id: facts.callId,
    phone_number: facts.to,
    from_number: facts.from,
    country: from?.country ?? '',
  };
}

/** Text conversations have no numbers. */
function parsed(number: string) {
  return number === '' ? undefined : phoneNumbers().parsePhoneNumberFromString(number);
}

/**
 * By zone, with the text of the last minute: creating a format takes a hundred times as long as using it, using it is a
 * twentieth of a turn of a written conversation, and templates use it often.
 */
const clocks = new Map<string, { readonly format: Intl.DateTimeFormat; minute: number; text: string }>();
const mostClocks = 100;

function localTime(now: number, timezone: string): string {
  let clock = clocks.get(timezone);
  if (!clock) {
    if (clocks.size >= mostClocks) clocks.clear();
    clock = { format: formatFor(timezone), minute: Number.NaN, text: '' };
    clocks.set(timezone, clock);
  }
  const minute = Math.floor(now / 60_000);
  if (clock.minute !== minute) {
    clock.minute = minute;
    clock.text = clock.format.format(now);
  }
  return clock.text;
}

function formatFor(timezone: string): Intl.DateTimeFormat {
  const style = { dateStyle: 'full', timeStyle: 'short' } as const;
  try {
    return new Intl.DateTimeFormat('en-US', { ...style, timeZone: timezone });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return new Intl.DateTimeFormat('en-US', { ...style, timeZone: 'UTC' });
  }
}
