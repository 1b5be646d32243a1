/**
 * Whether a destination may be called, by E.164 prefixes (docs/call-limits.md). Pure.
 *
 * Toll fraud is about telephone numbers, so only what a trunk may read as one is judged: names (`alice`) and
 * extensions of up to 6 digits pass. Of a SIP URI the user part is judged, whatever its host.
 */
import type { CallLimits } from '#shared/edge-protocol.ts';

/** Shorter ones belong to the dial plan of a PBX; a full number has 7 digits at least (shared/e164.ts). */
const leastDigits = 7;
/** What stands in place of the plus (ITU-T E.164; 011 in North America). */
const internationalPrefix = /^(?:011|00)/;

/**
 * The numbers, with plus, that a trunk may take a destination for; empty when it is none.
 * @param to E.164, an extension, or a SIP or tel URI
 */
export function readingsOf(to: string): string[] {
  // What follows the digits, such as the escaped ";" of a parameter, must not make a name of them.
  const [dialled = ''] = /^[+0-9*#\s._\-()]*/.exec(unescaped(userPart(to))) ?? [];
  const keys = dialled.replace(/[\s._\-()]/g, '');
  if (/^\+[0-9]+$/.test(keys)) return [keys];
  // Service codes hold numbers: *21*number# forwards calls to it. A trunk may also leave out the other keys.
  const runs = new Set([keys.replace(/[^0-9]/g, ''), ...(keys.match(/[0-9]+/g) ?? [])]);
  return [...runs]
    .filter((digits) => digits.length >= leastDigits)
    .map((digits) => `+${digits.replace(internationalPrefix, '')}`);
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
  for (const number of readingsOf(to)) {
    const wanted = longestFit(number, allowed);
    const unwanted = longestFit(number, blocked);
    if (unwanted !== '' && unwanted.length >= wanted.length) return `prefix ${unwanted} is blocked`;
    if (allowed.length > 0 && wanted === '') return 'no allowed prefix fits';
  }
  return null;
}

/** The longest of `prefixes` that `number` begins with; empty when none does. */
function longestFit(number: string, prefixes: readonly string[]): string {
  let longest = '';
  for (const prefix of prefixes) {
    if (prefix.length > longest.length && number.startsWith(prefix)) longest = prefix;
  }
  return longest;
}

/** User part of a SIP URI without password and parameters (RFC 3261 section 19.1.1), or the number of a tel URI. */
function userPart(to: string): string {
  const uri = /^\s*(sips?|tel):(.*)$/is.exec(to);
  if (!uri) return to;
  const [, scheme = '', rest = ''] = uri;
  const user = /^tel$/i.test(scheme) ? rest : rest.slice(0, Math.max(0, rest.lastIndexOf('@')));
  return user.split(/[;:]/, 1)[0] ?? '';
}

function unescaped(user: string): string {
  try {
    return decodeURIComponent(user);
  } catch {
    return user;
  }
}
