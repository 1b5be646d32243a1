/**
 * Whether a destination may be called, by E.164 prefixes (docs/call-limits.md). Pure.
 *
 * Toll fraud is about telephone numbers, so only what a trunk may read as one is judged: names (`alice`) and
 * extensions of up to 6 digits pass. Of a SIP URI the user part is judged, whatever its host; what a trunk makes of
 * it is up to the trunk, so whatever is left of a number after noise was put around and between its digits counts.
 */
import type { CallLimits } from '#shared/edge-protocol/numbers.ts';

/** Shorter ones belong to the dial plan of a PBX; a full number has 7 digits at least (shared/e164.ts). */
const leastDigits = 7;
/** What stands in place of the plus (ITU-T E.164; 011 in North America), however often. */
const internationalPrefixes = /^(?:011|00)+/;
/** The same with the prefixes of fewer countries, and the 0 of national numbers. */
const anyPrefixes = /^(?:0011|011|010|0)+/;
/** Digits of a service code such as *67 or #31 that may stand before the number without a mark between them. */
const serviceCodeDigits = [1, 2, 3, 4];
/** What the user part of a number or an extension is written with, the visual separators of RFC 3966 included. */
const dialledForm = /^[0-9A-Za-z*#+._\-() ]*$/;
const visualSeparators = /[\s._\-()]/g;

/**
 * The numbers, with plus, that a trunk is likely to take a destination for; empty when it is none.
 * @param to E.164, an extension, or a SIP or tel URI
 */
export function readingsOf(to: string): string[] {
  // Keypad letters and pauses are dropped by some trunks: what is around them is one number.
  const keys = userPart(to).replace(visualSeparators, '').replace(/\p{L}/gu, '');
  const context = keys.startsWith('+') ? '' : (phoneContext(to)?.number ?? '');
  if (/^\+[0-9]+$/.test(keys)) return [`+${withoutPrefixes(keys.slice(1))}`];
  // Service codes hold numbers: *21*number# forwards calls to it. A trunk may also leave out the other keys.
  const all = digitsOf(keys);
  const runs = new Set([all, ...(keys.match(/[0-9]+/g) ?? []), ...(context ? [context + all] : [])]);
  return [...runs]
    .filter((digits) => digits.length >= leastDigits)
    .map((digits) => `+${withoutPrefixes(digits)}`);
}

/**
 * Why the lists forbid a destination; null when they allow it. Of all prefixes that fit a number the longest
 * decides, the blocked one when both lists have it. What may be read in several ways must be allowed in each.
 */
export function forbiddenBecause(
  to: string,
  { allowed_prefixes, blocked_prefixes }: Pick<CallLimits, 'allowed_prefixes' | 'blocked_prefixes'>,
): string | null {
  const allowed = allowed_prefixes ?? [];
  const blocked = blocked_prefixes ?? [];
  if (allowed.length === 0 && blocked.length === 0) return null;
  const likely = readingsOf(to);
  for (const number of [...likely, ...hiddenReadings(to)]) {
    const unwanted = longestFit(number, blocked);
    if (unwanted !== '' && unwanted.length >= longestFit(number, allowed).length)
      return `prefix ${unwanted} is blocked`;
  }
  if (allowed.length > 0 && likely.some((number) => longestFit(number, allowed) === ''))
    return 'no allowed prefix fits';
  return unreadable(to);
}

/** Why nobody can tell which number a trunk would make of it; null when it is plain. */
function unreadable(to: string): string | null {
  const user = userPart(to);
  if (/\p{N}/u.test(user) && !dialledForm.test(user))
    return 'it has characters that no number is written with';
  const context = phoneContext(to);
  if (context?.number === null && digitsOf(user).length >= leastDigits)
    return `the number is a local one of ${context.text}`;
  return null;
}

/**
 * Every number whose digits stand in the destination in their order, with anything between them, after a service
 * code or prefixes. Most of them nobody means, so they are for the blocked prefixes alone.
 */
function hiddenReadings(to: string): string[] {
  const keys = userPart(to).replace(/[^0-9*#+]/g, '');
  const context = phoneContext(to)?.number ?? '';
  const found = new Set<string>();
  const add = (digits: string) => {
    for (const number of [digits, context + digits]) {
      found.add(number.replace(internationalPrefixes, ''));
      found.add(number.replace(anyPrefixes, ''));
    }
  };
  for (const { index } of keys.matchAll(/[0-9]+/g)) {
    const rest = digitsOf(keys.slice(index));
    add(rest);
    if (!/[*#]/.test(keys.slice(0, index))) continue;
    for (const length of serviceCodeDigits) add(rest.slice(length));
  }
  return [...found].filter((digits) => digits.length >= leastDigits).map((digits) => `+${digits}`);
}

function withoutPrefixes(digits: string): string {
  return digits.replace(internationalPrefixes, '');
}

function digitsOf(text: string): string {
  return text.replace(/[^0-9]/g, '');
}

/** The longest of `prefixes` that `number` begins with; empty when none does. */
function longestFit(number: string, prefixes: readonly string[]): string {
  let longest = '';
  for (const prefix of prefixes) {
    if (prefix.length > longest.length && number.startsWith(prefix)) longest = prefix;
  }
  return longest;
}

/** User part of a SIP URI without parameters (RFC 3261 section 19.1.1), or the number of a tel URI; unescaped. */
function userPart(to: string): string {
  const uri = /^\s*(sips?|tel):(.*)$/is.exec(to);
  if (!uri) return to;
  const [, scheme = '', rest = ''] = uri;
  const user = /^tel$/i.test(scheme) ? rest : rest.slice(0, Math.max(0, rest.lastIndexOf('@')));
  return unescaped(user.split(';', 1)[0] ?? '');
}

/**
 * The context of a local number (RFC 3966 section 5.1.5), the first when there are several; null without one.
 * `number`: the digits that it begins with; null for a domain.
 */
function phoneContext(to: string): { readonly text: string; readonly number: string | null } | null {
  const [, text] = /;\s*phone-context\s*=([^;@?]*)/i.exec(unescaped(to)) ?? [];
  if (text === undefined) return null;
  return { text, number: /^\s*\+/.test(text) ? digitsOf(text) : null };
}

/**
 * Whether the digits of `to` alone are another number than it names: a local one of some other place (RFC 3966
 * section 5.1.5). Extensions of a domain are none.
 */
export function isLocalElsewhere(to: string): boolean {
  const user = userPart(to).trimStart();
  const context = user.startsWith('+') ? null : phoneContext(to);
  return context !== null && (context.number !== null || digitsOf(user).length >= leastDigits);
}

function unescaped(user: string): string {
  try {
    return decodeURIComponent(user);
  } catch {
    return user;
  }
}
