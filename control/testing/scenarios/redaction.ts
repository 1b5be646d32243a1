/**
 * Redacts personal data and secrets from a call: numbers, e-mail and postal addresses, URLs, keys, and names revealed
 * in the call itself. Rather too much than too little: a test scenario needs none of it. Pure.
 */

import { isSaidName } from './redaction-names.ts';
import { patterns, type RemovedKind, withoutNumbers } from './redaction-patterns.ts';

export interface Removed {
  readonly kind: RemovedKind;
  /** Its replacement. */
  readonly placeholder: string;
  /** First and last character unless it is short, so that its owner recognizes it. */
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

const wordsWithin = /[\p{L}\p{N}]+(?:[-'’][\p{L}\p{N}]+)*/gu;

const nameKey =
  /(^|_|\b)(first|last|full|sur|middle|given|family|customer|caller|user|contact|patient|client|guest|lead)?_?name($|_|\b)/i;
const secretKey = /pass(word|code|phrase)?$|secret|token|api_?key|auth|credential|pin$|cvv|ssn/i;
const addressKey = /address|street|zip|postal|postcode/i;

export class Redaction {
  readonly #names = new Set<string>();
  readonly #removed = new Map<string, Removed>();

  /**
   * Learns what to redact everywhere.
   * @param names as people said them
   * @param variables of the call, whose members may contain names
   */
  learn(names: readonly string[], variables: unknown): void {
    this.#learnFrom(variables, '');
    for (const name of names) this.#addName(name);
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
      .filter((part) => part.length > 1);
    if (parts.length > 5) return;
    for (const part of parts) if (/\p{L}/u.test(part)) this.#names.add(part.toLowerCase());
  }

  text(text: string): string {
    // Invisible characters between digits, and digits of other widths, only serve to evade patterns.
    let clean = text.normalize('NFKC').replaceAll(/\p{Cf}/gu, '');
    for (const [kind, pattern] of patterns) {
      clean = clean.replace(pattern, (found) => this.#remove(kind, found));
    }
    clean = withoutNumbers(clean, (found) => this.#remove('number', found));
    const said = clean;
    clean = clean.replace(wordsWithin, (word, at: number) => {
      const before = said.slice(Math.max(0, at - 10), at);
      if (isSaidName(word, this.#names, before)) return this.#remove('name', word);
      return word.replace(/[\p{L}\p{N}]+/gu, (part) =>
        isSaidName(part, this.#names, before) ? this.#remove('name', part) : part,
      );
    });
    return clean.replaceAll(/\[name\](?:\s+\[name\])+/g, '[name]');
  }

  /** Any JSON value, redacted at every depth, including the names of members. */
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

  /** What was redacted, in order of appearance. */
  removed(): Removed[] {
    return [...this.#removed.values()];
  }

  #remove(kind: RemovedKind, found: string): string {
    const known = this.#removed.get(`${kind} ${found}`);
    const placeholder = placeholders[kind];
    const characters = [...found];
    // In a PIN the two would be half of it.
    const short = characters.length < (kind === 'key' ? 8 : 3);
    const hint = short ? '…' : `${characters[0]}…${characters.at(-1)}`;
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
