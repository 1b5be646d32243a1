import { type Address, parseAddress, splitList, tagOf } from './address.ts';
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
export const USUAL_NAMES = [
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

/** V8 compares internalized strings by their address; names of properties are internalized, lower-cased text is not. */
function internalized(text: string): string {
  return Object.keys({ [text]: 0 })[0] ?? text;
}

const KEYS: ReadonlyMap<string, string> = new Map(
  [
    ...USUAL_NAMES.flatMap((name): [string, string][] => [
      [name, name.toLowerCase()],
      [name.toLowerCase(), name.toLowerCase()],
    ]),
    ...[...COMPACT_FORMS].flatMap(([short, long]): [string, string][] => [
      [short, long],
      [short.toUpperCase(), long],
    ]),
  ].map(([name, key]) => [internalized(name), internalized(key)]),
);

/** A usual spelling of a header name with its key. */
interface KnownName {
  readonly name: string;
  readonly key: string;
}

const BY_LENGTH: KnownName[][] = [];
for (const [name, key] of KEYS) {
  BY_LENGTH[name.length] ??= [];
  BY_LENGTH[name.length]?.push({ name, key });
}

/** The name between two positions of a text if its spelling is usual: it need not be cut out, hashed and looked up. */
export function knownName(text: string, from: number, end: number): KnownName | null {
  const first = text.charCodeAt(from);
  for (const known of BY_LENGTH[end - from] ?? [])
    if (known.name.charCodeAt(0) === first && text.startsWith(known.name, from)) return known;
  return null;
}

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
  #text: string | null = null;
  /** What was read from fields: undefined before, null when there is none. */
  #from: Address | null | undefined;
  #to: Address | null | undefined;
  #contact: Address | null | undefined;
  #fromTag: string | null | undefined;
  #toTag: string | null | undefined;
  #cseq: CSeq | null | undefined;
  #topVia: Via | null | undefined;

  constructor(fields: Iterable<readonly [name: string, value: string]> = []) {
    for (const [name, value] of fields) this.append(name, value);
  }

  /**
   * Takes ownership of arrays of equal length that the parser filled; `keys[i]` is `headerKey(names[i])`.
   * @param text what `text` returns
   */
  static from(names: string[], keys: string[], values: string[], text: string | null = null): HeaderList {
    const list = new HeaderList();
    list.#names = names;
    list.#keys = keys;
    list.#values = values;
    list.#text = text;
    return list;
  }

  get text(): string | null {
    return this.#text;
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

  get from(): Address | null {
    if (this.#from === undefined) this.#from = parseAddress(this.get('from') ?? '');
    return this.#from;
  }

  get to(): Address | null {
    if (this.#to === undefined) this.#to = parseAddress(this.get('to') ?? '');
    return this.#to;
  }

  get contact(): Address | null {
    if (this.#contact === undefined) this.#contact = parseAddress(firstElement(this.get('contact') ?? ''));
    return this.#contact;
  }

  get fromTag(): string | undefined {
    if (this.#fromTag === undefined) this.#fromTag = tagIn(this.#from, this.get('from')) ?? null;
    return this.#fromTag ?? undefined;
  }

  get toTag(): string | undefined {
    if (this.#toTag === undefined) this.#toTag = tagIn(this.#to, this.get('to')) ?? null;
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
    this.#text = null;
    if (key === 'via') this.#topVia = undefined;
    else if (key === 'from') this.#from = this.#fromTag = undefined;
    else if (key === 'to') this.#to = this.#toTag = undefined;
    else if (key === 'contact') this.#contact = undefined;
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
    const text = this.#textWith(first, value);
    this.#values[first] = value;
    this.#changed(key);
    this.#text = text;
  }

  /** The text with another value at an index. */
  #textWith(index: number, value: string): string | null {
    if (this.#text === null) return null;
    let at = this.nameAt(index).length + 2;
    for (let i = 0; i < index; i++) at += this.nameAt(i).length + this.valueAt(i).length + 4;
    return this.#text.slice(0, at) + value + this.#text.slice(at + this.valueAt(index).length);
  }

  append(name: string, value: string): void {
    checkOneLine(value);
    const known = KEYS.get(name);
    if (known === undefined) checkOneLine(name);
    this.#add(name, known ?? headerKey(name), value);
  }

  /**
   * Appends all lines of a header of another message. Their values contain no line break: they have been checked.
   * @param name as it should be written
   * @param key its long form in lower case
   */
  appendFrom(source: Headers, name: string, key: string): void {
    for (let i = 0; i < source.length; i++)
      if (source.keyAt(i) === key) this.#add(name, key, source.valueAt(i));
  }

  /** The same for its first line; without one, an empty value. */
  appendFirst(source: Headers, name: string, key: string): void {
    this.#add(name, key, source.get(key) ?? '');
  }

  #add(name: string, key: string, value: string): void {
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
    return HeaderList.from(this.#names.slice(), this.#keys.slice(), this.#values.slice(), this.#text);
  }

  #cut(index: number): void {
    this.#changed(this.keyAt(index));
    this.#names.splice(index, 1);
    this.#keys.splice(index, 1);
    this.#values.splice(index, 1);
  }
}

/** The tag of an address if it has been parsed already, else of its text, which may be malformed. */
function tagIn(address: Address | null | undefined, text: string | undefined): string | undefined {
  if (address) return address.params.get('tag') ?? undefined;
  return text === undefined ? undefined : tagOf(text);
}

function firstElement(list: string): string {
  return list.includes(',') ? (splitList(list)[0] ?? '') : list;
}
