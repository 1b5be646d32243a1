/**
 * Patterns for numbers, addresses, keys and links in the text of a call. Each pattern starts at the start of a word and
 * is bounded or unambiguous from there, so that no text takes more than linear time.
 */

export type RemovedKind = 'phone_number' | 'number' | 'email' | 'url' | 'address' | 'key' | 'name';

const digitWord = '(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple)';
const street =
  'street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|square|sq|highway|hwy|place|pl|terrace|way';
/** "Order 4711 is on its way" is not an address. */
const noStreet = 'is|are|was|were|on|its|the|a|an|my|your|our|in|at|for|and|or|to|has|have|will|people|of';
const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
const month = `(?:${months})[a-z]*`;
const date = `(?:\\d{4}-\\d{2}-\\d{2}|${month} \\d{1,2}(?:st|nd|rd|th)?(?:,? \\d{4})?|\\d{1,2}(?:st|nd|rd|th)? (?:of )?${month}(?: \\d{4})?)`;

/** May be between the name of a secret and the secret. */
const link = "(?:(?: number| is| was| are| of| it’s| it's)|[:#=,]){0,3}\\s{1,2}";
const after = (names: string) => `(?<=\\b(?:${names})${link})`;
/** A word containing a digit. */
const code = '(?=\\S{0,40}\\d)[^\\s,;]+?(?=[\\s,;.!?]|$)';

/** Tried in this order; each match is replaced by its placeholder before the next is tried. */
export const patterns: readonly (readonly [RemovedKind, RegExp])[] = [
  ['url', /(?<![a-z0-9+.-])(?:[a-z][a-z0-9+.-]*:\/\/|www\.)[^\s"'<>]+/gi],
  ['url', /\b(?:sips?|tel|mailto):[^\s"'<>]+/gi],
  ['email', /(?<![^\s@<>"'(),;:])[^\s@<>"'(),;:]+@[^\s@<>"'(),;:]*[\p{L}\p{N}]/gu],
  // As it is spoken: "sam dot reed at example dot com".
  [
    'email',
    /(?<![\p{L}\p{N}._-])[\p{L}\p{N}._-]+(?: (?:dot|underscore|dash|hyphen) [\p{L}\p{N}_-]+){0,4} at [\p{L}\p{N}-]+(?: dot [\p{L}\p{N}]{2,})+\b/giu,
  ],
  [
    'email',
    /(?<![\p{L}\p{N}._-])[\p{L}\p{N}._-]+ ?[([{] ?at ?[)\]}] ?[\p{L}\p{N}-]+(?:(?: dot |\.)[\p{L}\p{N}]{2,})*/giu,
  ],
  [
    'url',
    /(?<![\p{L}\p{N}.-])[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.(?:com|net|org|io|dev|app|co|ai|info|biz|edu|gov|de|uk|eu|us|fr|ch|at|рф|xn--[a-z0-9-]+)(?:\/[^\s"'<>]*)?(?![\p{L}\p{N}])/giu,
  ],
  ['url', /(?<![\p{L}\p{N}.-])[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}\/[^\s"'<>]*/giu],
  ['key', /\beyJ[\w-]+\.[\w-]+(?:\.[\w-]+)?/g],
  ['key', /\b(?:bearer|basic)\s+[\w.~+/=-]{8,}/gi],
  ['key', /\b(?:sk|pk|rk|key|api|token|ghp|gho|xox[a-z]|whsec|AKIA|ASIA|AIza)[-_]?[\w-]{12,}/g],
  ['key', /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi],
  ['key', /(?<![\w+/=-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])[\w+/=-]{20,}(?![\w+/=-])/gi],
  [
    'key',
    new RegExp(
      `${after('password|passphrase|passcode')}(?!(?:not|wrong|incorrect|correct|right|the|my|a|is|does|doesn't)\\b)[^\\s]+`,
      'gi',
    ),
  ],
  ['address', new RegExp(`${after('zip|zip code|postcode|postal code')}${code}`, 'gi')],
  [
    'key',
    new RegExp(
      `${after('pin|pin code|cvv|cvc|otp|security code|access code|code|last four(?: digits)?')}${code}`,
      'gi',
    ),
  ],
  [
    'number',
    new RegExp(
      `${after('account|member|membership|policy|passport|licen[cs]e|plate|social|ssn|iban')}${code}`,
      'gi',
    ),
  ],
  ['address', /\bp\.? ?o\.? box \d+/gi],
  // What a date begins with is looked for first: to look back at each letter took a third of the time of all patterns.
  [
    'number',
    new RegExp(
      `(?=\\d|${months})(?<=\\b(?:born|birth|birthday|birthdate|dob)\\b[^.!?\\n]{0,30})${date}`,
      'gi',
    ),
  ],
  [
    'address',
    new RegExp(
      `\\b\\d{1,6}[a-z]?(?: (?!(?:${noStreet})\\b)[\\p{L}'.-]+){1,4} (?:${street})\\b\\.?(?:,? (?:apt|apartment|suite|unit|floor|#) ?[\\w-]+)?`,
      'giu',
    ),
  ],
  ['address', /\b\d{1,6}[a-z]?(?: [\p{L}'.-]+){1,4},? (?:apt|apartment|suite|unit)\b\.?(?: [\w-]+)?/giu],
  [
    'address',
    /(?=\d)(?<=\b(?:[Ll]ives?|[Ll]iving|[Aa]ddress|[Ss]hip|[Dd]eliver|[Ll]ocated)\b[^.!?\n\d]{0,20})\d{1,6}[a-z]?(?: \p{Lu}[\p{L}'-]+){1,3}/gu,
  ],
  ['address', /(?<![\p{L}-])[\p{L}-]+(?:straße|strasse|weg|gasse|platz|allee) \d+[a-z]?\b/giu],
  ['address', /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g],
  ['address', /(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f:]{1,}(?![\w:])/gi],
  ['phone_number', /(?<![\w])\+\d[\d\s().-]{5,18}\d/g],
  ['phone_number', /(?<![\w])\(?\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}(?!\w)/g],
  ['number', new RegExp(`\\b${digitWord}(?:[\\s,.;-]{1,5}${digitWord}){3,}\\b`, 'gi')],
];

/** Digits in groups: account, card and social security numbers, also as dictated. */
const digitRun = /\p{Nd}(?:(?: ?[\s.,()/_-] ?| (?:dash|hyphen|slash|dot|point|space) )?\p{Nd})*/gu;
const isoDate = /(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)/g;
/** Fewer digits, except dates, are not a secret. */
const tellingDigits = 5;

/** Letters and digits in one word: passports, license plates, bookings. */
const mixedWord = /(?<![\p{L}\p{N}-])[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu;
const mixedLength = 6;
const mixedDigits = 3;

/** @param remove returns the replacement of a number */
export function withoutNumbers(text: string, remove: (found: string) => string): string {
  const digits = (found: string) => found.replaceAll(isoDate, '').replaceAll(/\P{Nd}/gu, '').length;
  return text
    .replaceAll(mixedWord, (found) =>
      found.length >= mixedLength && digits(found) >= mixedDigits && /\p{L}/u.test(found)
        ? remove(found)
        : found,
    )
    .replaceAll(digitRun, (found) => (digits(found) < tellingDigits ? found : remove(found)));
}
