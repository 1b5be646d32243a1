import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import type { Variables } from './interfaces.ts';

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
  return number === '' ? undefined : parsePhoneNumberFromString(number);
}

/** Formats by zone: creating one takes a hundred times as long as using it, and templates use them often. */
const formats = new Map<string, Intl.DateTimeFormat>();
const mostFormats = 100;

function localTime(now: number, timezone: string): string {
  const known = formats.get(timezone);
  if (known) return known.format(now);
  const format = formatFor(timezone);
  if (formats.size >= mostFormats) formats.clear();
  formats.set(timezone, format);
  return format.format(now);
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
