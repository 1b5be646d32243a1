/**
 * Checks a destination against E.164 prefix lists (docs/call-limits.md). Pure.
 *
 * Toll fraud targets phone numbers, so only what a trunk may read as one is checked: names (`alice`) and extensions of
 * up to 6 digits pass. In a SIP URI the user part is checked, whatever the host. Trunks normalize it differently, so
 * a number with extra characters around or between its digits counts too.
 */
import type { CallLimits } from '#shared/edge-protocol/numbers.ts';

/** Shorter numbers belong to the dial plan of a PBX; a full number has at least 7 digits (shared/e164.ts). */
const leastDigits = 7;
/** Prefixes used instead of the plus (ITU-T E.164; 011 in North America), possibly repeated. */
const internationalPrefixes = /^(?:011|00)+/;
/** The same, plus prefixes of fewer countries and the 0 of national numbers. */
const anyPrefixes = /^(?:0011|011|010|0)+/;
/** Lengths of service codes such as *67 or #31 that may precede the number without a separator. */
const serviceCodeDigits = [1, 2, 3, 4];
/** Characters of a dialed number or extension, including the visual separators of RFC 3966. */
const dialledForm = /^[0-9A-Za-z*#+._\-() ]*$/;
const visualSeparators = /[\s._\-()]/g;

/**
 * The numbers, with plus, that a trunk may read in a destination; empty when there are none.
 * @param to E.164, an extension, or a SIP or tel URI
 */
export function readingsOf(to: string): string[] {
  // Some trunks drop keypad letters and pauses, which joins the digits around them into one number.
  const keys = userPart(to).replace(visualSeparators, '').replace(/\p{L}/gu, '');
  const context = keys.startsWith('+') ? '' : (phoneContext(to)?.number ?? '');
  if (/^\+[0-9]+$/.test(keys)) return [`+${withoutPrefixes(keys.slice(1))}`];
  // Service codes contain numbers: *21*number# forwards calls to it. A trunk may also drop the other keys.
  const all = digitsOf(keys);
  const runs = new Set([all, ...(keys.match(/[0-9]+/g) ?? []), ...(context ? [context + all] : [])]);
  return [...runs]
    .filter((digits) => digits.length >= leastDigits)
    .map((digits) => `+${withoutPrefixes(digits)}`);
}

/**
 * Why the prefix lists forbid a destination; null when they allow it. The longest matching prefix decides; at equal
 * length the blocked one wins. Every possible reading of the destination must be allowed.
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
    return 'no allowed prefix matches';
  return unreadable(to);
}

/** Why the number that a trunk would dial is ambiguous; null when it is not. */
function unreadable(to: string): string | null {
  const user = userPart(to);
  if (/\p{N}/u.test(user) && !dialledForm.test(user))
    return 'it contains characters that are not valid in a number';
  const context = phoneContext(to);
  if (context?.number === null && digitsOf(user).length >= leastDigits)
    return `the number is local to ${context.text}`;
  return null;
}

/**
 * Every number whose digits appear in the destination in order, with anything between them, after a service code or
 * prefix. Most of these are not intended, so only blocked prefixes apply to them.
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

/** The longest of `prefixes` that `number` starts with; empty when none does. */
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
 * `number`: the digits it starts with; null for a domain.
 */
function phoneContext(to: string): { readonly text: string; readonly number: string | null } | null {
  const [, text] = /;\s*phone-context\s*=([^;@?]*)/i.exec(unescaped(to)) ?? [];
  if (text === undefined) return null;
  return { text, number: /^\s*\+/.test(text) ? digitsOf(text) : null };
}

/**
 * Whether `to` is a local number of another place, so that its digits alone are a different number (RFC 3966
 * section 5.1.5). Extensions within a domain are not.
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
