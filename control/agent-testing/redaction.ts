/**
 * Takes out of a call what belongs to a person or opens a door: numbers, e-mail and postal addresses, URLs, keys, and
 * names that the call itself gives away. Rather too much than too little: a test scenario needs none of it. Pure.
 */

export type RemovedKind = 'phone_number' | 'number' | 'email' | 'url' | 'address' | 'key' | 'name';

export interface Removed {
  readonly kind: RemovedKind;
  /** What stands in its place. */
  readonly placeholder: string;
  /** First and last character, so that its owner recognises it. */
  readonly hint: string;
  readonly count: number;
}

const placeholders: Readonly<Record<RemovedKind, string>> = {
  phone_number: '[phone number]',
  number: '[number]',
  email: '[email]',
  url: '[url]',
  address: '[address]',
  key: '[key]',
  name: '[name]',
};

const digitWord = '(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple)';
const street =
  'street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|square|sq|highway|hwy|place|pl|terrace|way';

/**
 * Tried in this order; each match becomes its placeholder before the next is looked for. Each begins where a word
 * begins and is bounded or unambiguous from there, so that no text takes more than linear time.
 */
const patterns: readonly (readonly [RemovedKind, RegExp])[] = [
  ['url', /(?<![a-z0-9+.-])(?:[a-z][a-z0-9+.-]*:\/\/|www\.)[^\s"'<>]+/gi],
  ['url', /\b(?:sips?|tel|mailto):[^\s"'<>]+/gi],
  ['email', /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/giu],
  // As it is spoken: "sam at example dot com".
  ['email', /(?<![\p{L}\p{N}._-])[\p{L}\p{N}._-]+ at [\p{L}\p{N}-]+(?: dot [\p{L}\p{N}]{2,})+\b/giu],
  [
    'url',
    /(?<![a-z0-9.-])[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|net|org|io|dev|app|co|ai|info|biz|edu|gov|de|uk|eu|us|fr|ch|at)(?:\/[^\s"'<>]*)?\b/gi,
  ],
  ['key', /\beyJ[\w-]+\.[\w-]+(?:\.[\w-]+)?/g],
  ['key', /\b(?:bearer|basic)\s+[\w.~+/=-]{8,}/gi],
  ['key', /\b(?:sk|pk|rk|key|api|token|ghp|gho|xox[a-z]|whsec|AKIA|ASIA|AIza)[-_]?[\w-]{12,}/g],
  ['key', /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi],
  ['key', /(?<![\w+/=-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])[\w+/=-]{20,}(?![\w+/=-])/gi],
  [
    'address',
    new RegExp(
      `\\b\\d{1,6}[a-z]?(?: [\\p{L}'.-]+){1,4} (?:${street})\\b\\.?(?:,? (?:apt|apartment|suite|unit|floor|#) ?[\\w-]+)?`,
      'giu',
    ),
  ],
  ['address', /(?<![\p{L}-])[\p{L}-]+(?:straße|strasse|weg|gasse|platz|allee) \d+[a-z]?\b/giu],
  ['address', /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g],
  ['address', /(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f:]{1,}(?![\w:])/gi],
  ['phone_number', /(?<![\w])\+\d[\d\s().-]{5,18}\d/g],
  ['phone_number', /(?<![\w])\(?\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}(?!\w)/g],
  ['number', new RegExp(`\\b${digitWord}(?:[ ,-]+${digitWord}){4,}\\b`, 'gi')],
];

/** Digits in groups: account, card and social security numbers. */
const digitRun = /\d(?:[\s.-]?\d)*/g;
const isoDate = /(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)/g;
/** Fewer digits, besides dates, are no secret. */
const tellingDigits = 5;

const wordsWithin = /[\p{L}\p{N}]+(?:[-'’][\p{L}\p{N}]+)*/gu;

const introduction =
  /\b(?:my name is|my name's|this is|i am|i'm|it's|name is|speaking with|speak to|speak with|mr\.?|mrs\.?|ms\.?|dr\.?) (\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+){0,2})/gu;
const introductionAnyCase = /\b(?:my name is|my name's) ([\p{L}'-]+)/giu;

/** Words that an introduction may be followed by without being a name. */
const noNames = new Set([
  'the',
  'a',
  'an',
  'i',
  'not',
  'calling',
  'sorry',
  'just',
  'here',
  'your',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
  'unacceptable',
  'ridiculous',
]);

const nameKey =
  /(^|_|\b)(first|last|full|sur|middle|given|family|customer|caller|user|contact|patient|client|guest|lead)?_?name($|_|\b)/i;
const secretKey = /pass(word|code|phrase)?$|secret|token|api_?key|auth|credential|pin$|cvv|ssn/i;
const addressKey = /address|street|zip|postal|postcode/i;

export class Redaction {
  readonly #names = new Set<string>();
  readonly #removed = new Map<string, Removed>();

  /** Learns the names that a call's variables hold and that its people say of themselves. */
  learn(texts: readonly string[], variables: unknown): void {
    this.#learnFrom(variables, '');
    for (const text of texts) {
      for (const [, name = ''] of text.matchAll(introduction)) this.#addName(name);
      for (const [, name = ''] of text.matchAll(introductionAnyCase)) this.#addName(name);
    }
  }

  #learnFrom(value: unknown, key: string): void {
    if (typeof value === 'string' && nameKey.test(camelToSnake(key))) this.#addName(value);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, part] of Object.entries(value))
      this.#learnFrom(part, Array.isArray(value) ? key : name);
  }

  #addName(name: string): void {
    const parts = name
      .trim()
      .split(/\s+/)
      .filter((part) => part.length > 1 && !noNames.has(part.toLowerCase()));
    if (parts.length === 0 || parts.length > 5) return;
    for (const part of parts) if (/\p{L}/u.test(part)) this.#names.add(part.toLowerCase());
  }

  text(text: string): string {
    let clean = text;
    for (const [kind, pattern] of patterns) {
      clean = clean.replace(pattern, (found) => this.#remove(kind, found));
    }
    clean = clean.replace(digitRun, (found) => {
      const digits = found.replace(isoDate, '').replaceAll(/\D/g, '').length;
      return digits < tellingDigits ? found : this.#remove('number', found);
    });
    clean = clean.replace(wordsWithin, (word) => {
      if (this.#names.has(word.toLowerCase())) return this.#remove('name', word);
      return word.replace(/[\p{L}\p{N}]+/gu, (part) =>
        this.#names.has(part.toLowerCase()) ? this.#remove('name', part) : part,
      );
    });
    return clean.replaceAll(/\[name\](?:\s+\[name\])+/g, '[name]');
  }

  /** Any JSON value, redacted at every depth, in the names of members too. */
  value(value: unknown, key = ''): unknown {
    const kind = kindOfKey(key);
    if (kind && value !== null && typeof value !== 'object' && value !== '') {
      return this.#remove(kind, String(value));
    }
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.#number(value);
    if (Array.isArray(value)) return value.map((part) => this.value(part, key));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([name, part]): [string, unknown] => [
      this.text(name),
      this.value(part, name),
    ]);
    return Object.fromEntries(entries);
  }

  #number(value: number): unknown {
    return Math.abs(value) >= 10_000 ? this.text(String(value)) : value;
  }

  /** What was taken out, in the order in which it was met. */
  removed(): Removed[] {
    return [...this.#removed.values()];
  }

  #remove(kind: RemovedKind, found: string): string {
    const known = this.#removed.get(`${kind} ${found}`);
    const placeholder = placeholders[kind];
    const characters = [...found];
    const hint = characters.length < 3 ? '…' : `${characters[0]}…${characters.at(-1)}`;
    this.#removed.set(`${kind} ${found}`, { kind, placeholder, hint, count: (known?.count ?? 0) + 1 });
    return placeholder;
  }
}

function kindOfKey(key: string): RemovedKind | null {
  const plain = camelToSnake(key);
  if (secretKey.test(plain)) return 'key';
  if (addressKey.test(plain)) return 'address';
  return nameKey.test(plain) ? 'name' : null;
}

function camelToSnake(key: string): string {
  return key.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
}
