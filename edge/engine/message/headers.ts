import { splitList, tagOf } from './address.ts';
import { type CSeq, parseCSeq } from './cseq.ts';
import type { Headers } from './message.ts';
import { parseVia, type Via } from './via.ts';

/** Compact forms (RFC 3261 section 7.3.3 and the IANA registry of SIP header fields) and their long names. */
export const COMPACT_FORMS: ReadonlyMap<string, string> = new Map([
  ['a', 'accept-contact'], // RFC 3841
  ['b', 'referred-by'], // RFC 3892
  ['c', 'content-type'],
  ['d', 'request-disposition'], // RFC 3841
  ['e', 'content-encoding'],
  ['f', 'from'],
  ['i', 'call-id'],
  ['j', 'reject-contact'], // RFC 3841
  ['k', 'supported'],
  ['l', 'content-length'],
  ['m', 'contact'],
  ['n', 'identity-info'], // RFC 4474
  ['o', 'event'], // RFC 6665
  ['r', 'refer-to'], // RFC 3515
  ['s', 'subject'],
  ['t', 'to'],
  ['u', 'allow-events'], // RFC 6665
  ['v', 'via'],
  ['x', 'session-expires'], // RFC 4028
  ['y', 'identity'], // RFC 8224
]);

/** Common spellings: names found here need no lower-casing. */
const USUAL_NAMES = [
  'Via',
  'Max-Forwards',
  'Route',
  'Record-Route',
  'From',
  'To',
  'Call-ID',
  'Call-Id',
  'CSeq',
  'Contact',
  'Content-Type',
  'Content-Length',
  'Content-Disposition',
  'Allow',
  'Supported',
  'Require',
  'Proxy-Require',
  'Unsupported',
  'User-Agent',
  'Server',
  'Expires',
  'Min-Expires',
  'Session-Expires',
  'Min-SE',
  'Accept',
  'Accept-Encoding',
  'Accept-Language',
  'Allow-Events',
  'Event',
  'Subscription-State',
  'Date',
  'Subject',
  'Reason',
  'Warning',
  'Retry-After',
  'RSeq',
  'RAck',
  'Refer-To',
  'Referred-By',
  'Replaces',
  'Authorization',
  'Proxy-Authorization',
  'WWW-Authenticate',
  'Proxy-Authenticate',
  'P-Asserted-Identity',
  'P-Preferred-Identity',
  'Remote-Party-ID',
  'Privacy',
  'Diversion',
  'History-Info',
  'Identity',
];

const KEYS: ReadonlyMap<string, string> = new Map([
  ...USUAL_NAMES.flatMap((name): [string, string][] => [
    [name, name.toLowerCase()],
    [name.toLowerCase(), name.toLowerCase()],
  ]),
  ...[...COMPACT_FORMS].flatMap(([short, long]): [string, string][] => [
    [short, long],
    [short.toUpperCase(), long],
  ]),
]);

/** The long lower-case form of a header name, used to compare headers: `V` and `Via` give `via`. */
export function headerKey(name: string): string {
  const known = KEYS.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  return COMPACT_FORMS.get(lower) ?? lower;
}

/** A line break in a value would allow header injection. */
function checkOneLine(text: string): void {
  if (text.includes('\n') || text.includes('\r')) {
    throw new TypeError(`a header field must not contain a line break: ${JSON.stringify(text.slice(0, 80))}`);
  }
}

/** Header fields in three parallel arrays: name as written, lookup key, value. */
export class HeaderList implements Headers {
  #names: string[] = [];
  #keys: string[] = [];
  #values: string[] = [];
  /** What was read from fields: undefined before, null when there is none. */
  #fromTag: string | null | undefined;
  #toTag: string | null | undefined;
  #cseq: CSeq | null | undefined;
  #topVia: Via | null | undefined;

  constructor(fields: Iterable<readonly [name: string, value: string]> = []) {
    for (const [name, value] of fields) this.append(name, value);
  }

  /** Takes ownership of arrays of equal length that the parser filled; `keys[i]` is `headerKey(names[i])`. */
  static from(names: string[], keys: string[], values: string[]): HeaderList {
    const list = new HeaderList();
    list.#names = names;
    list.#keys = keys;
    list.#values = values;
    return list;
  }

  get length(): number {
    return this.#names.length;
  }

  nameAt(index: number): string {
    return this.#names[index] ?? '';
  }

  keyAt(index: number): string {
    return this.#keys[index] ?? '';
  }

  valueAt(index: number): string {
    return this.#values[index] ?? '';
  }

  get(name: string): string | undefined {
    const index = this.#keys.indexOf(name);
    return index === -1 ? undefined : this.#values[index];
  }

  all(name: string): string[] {
    const values: string[] = [];
    for (let i = this.#keys.indexOf(name); i !== -1; i = this.#keys.indexOf(name, i + 1)) {
      values.push(this.valueAt(i));
    }
    return values;
  }

  has(name: string): boolean {
    return this.#keys.includes(name);
  }

  get fromTag(): string | undefined {
    if (this.#fromTag === undefined) this.#fromTag = tagOf(this.get('from') ?? '') ?? null;
    return this.#fromTag ?? undefined;
  }

  get toTag(): string | undefined {
    if (this.#toTag === undefined) this.#toTag = tagOf(this.get('to') ?? '') ?? null;
    return this.#toTag ?? undefined;
  }

  get cseq(): CSeq | null {
    if (this.#cseq === undefined) this.#cseq = parseCSeq(this.get('cseq') ?? '');
    return this.#cseq;
  }

  get topVia(): Via | null {
    if (this.#topVia === undefined) this.#topVia = parseVia(firstElement(this.get('via') ?? ''));
    return this.#topVia;
  }

  /** A field has changed: what was read from it is not valid anymore. */
  #changed(key: string): void {
    if (key === 'via') this.#topVia = undefined;
    else if (key === 'from') this.#fromTag = undefined;
    else if (key === 'to') this.#toTag = undefined;
    else if (key === 'cseq') this.#cseq = undefined;
  }

  set(name: string, value: string): void {
    checkOneLine(value);
    const key = headerKey(name);
    const first = this.#keys.indexOf(key);
    if (first === -1) {
      this.append(name, value);
      return;
    }
    for (let i = this.#keys.lastIndexOf(key); i > first; i = this.#keys.lastIndexOf(key)) this.#cut(i);
    checkOneLine(name);
    this.#names[first] = name;
    this.#values[first] = value;
    this.#changed(key);
  }

  replaceFirst(name: string, value: string): void {
    checkOneLine(value);
    const key = headerKey(name);
    const first = this.#keys.indexOf(key);
    if (first === -1) {
      this.append(name, value);
      return;
    }
    this.#values[first] = value;
    this.#changed(key);
  }

  append(name: string, value: string): void {
    checkOneLine(name);
    checkOneLine(value);
    const key = headerKey(name);
    this.#names.push(name);
    this.#keys.push(key);
    this.#values.push(value);
    this.#changed(key);
  }

  prepend(name: string, value: string): void {
    checkOneLine(name);
    checkOneLine(value);
    const key = headerKey(name);
    this.#names.unshift(name);
    this.#keys.unshift(key);
    this.#values.unshift(value);
    this.#changed(key);
  }

  remove(name: string): void {
    const key = headerKey(name);
    for (let i = this.#keys.lastIndexOf(key); i !== -1; i = this.#keys.lastIndexOf(key)) this.#cut(i);
  }

  removeFirst(name: string): void {
    const first = this.#keys.indexOf(headerKey(name));
    if (first !== -1) this.#cut(first);
  }

  clone(): HeaderList {
    return HeaderList.from(this.#names.slice(), this.#keys.slice(), this.#values.slice());
  }

  #cut(index: number): void {
    this.#changed(this.keyAt(index));
    this.#names.splice(index, 1);
    this.#keys.splice(index, 1);
    this.#values.splice(index, 1);
  }
}

function firstElement(list: string): string {
  return list.includes(',') ? (splitList(list)[0] ?? '') : list;
}
