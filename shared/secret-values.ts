/**
 * Second stage after `sip-redaction.ts`: finds known secrets by value, anywhere and in any spelling. Blanks, line ends,
 * quotes and backslashes between the characters do not hide one, nor does percent-encoding, hexadecimal, base64 of it,
 * or another base64 alignment.
 */

/** Shorter ones also occur in ordinary words and numbers. */
const shortest = 8;

/** Characters skipped when values are searched for. */
const skipped = /[\s\0-\x1f\x7f-\xa0"\\=\u200b-\u200f\u2028\u2029\ufeff]+/g;

interface Spelling {
  readonly text: string;
  readonly anyCase: boolean;
}

/** Whether a secret is long enough to be distinguished from other text. */
function isDistinct(secret: string): boolean {
  return secret.replaceAll(/[\s"\\=]/g, '').length >= shortest;
}

/** A key in base64 may also appear in decoded form. */
const base64Key = /^[A-Za-z0-9+/_-]{16,}={0,2}$/;

/** All spellings of one secret. */
function spellingsOf(secret: string): Spelling[] {
  const plain = secret.replace(skipped, '');
  const utf8 = Buffer.from(secret, 'utf8');
  const octets = [utf8];
  // Percent-encoding is of octets, and a text is read as one character for each.
  const decoded = utf8.toString('latin1').replace(skipped, '');
  if (base64Key.test(secret)) octets.push(Buffer.from(secret, 'base64'));
  const spellings = [
    // Digits of a hash are the same in both cases.
    ...(/^[0-9a-f]+$/i.test(plain) ? [{ text: plain.toLowerCase(), anyCase: true }] : []),
    { text: decoded, anyCase: false },
    { text: plain, anyCase: false },
    { text: forUrls(plain), anyCase: false },
    ...octets.flatMap((bytes) => [
      { text: bytes.toString('hex'), anyCase: true },
      ...alignedBase64(bytes).flatMap((text) => [
        { text, anyCase: false },
        { text: forUrls(text), anyCase: false },
      ]),
    ]),
  ];
  // Without what is skipped, the text itself may be too short.
  return spellings.filter(({ text }) => text.length >= shortest);
}

/** The base64 characters that these octets always produce after none, one and two others, and so on modulo 3. */
function alignedBase64(bytes: Buffer): string[] {
  const padded = Buffer.concat([Buffer.alloc(2), bytes]);
  return [0, 1, 2].map((before) => {
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor(((before + bytes.length) * 8) / 6);
    return padded.toString('base64', 2 - before).slice(first, last);
  });
}

/** Replaces every known secret in a text by `REDACTED`. The spellings of the secrets are determined once, if at all. */
export function redactorOf(secrets: Iterable<string>): (text: string) => string {
  const known = [...new Set(secrets)].filter(isDistinct);
  if (known.length === 0) return (text) => text;
  const beginnings = new Beginnings(known);
  let spellings: Spellings | null = null;
  return (text) => {
    // Hardly any message has a secret that its place did not give away.
    if (!text.includes('%') && !beginnings.areIn(text)) return text;
    spellings ??= allSpellings(known);
    const { exact, anyCase } = spellings;
    const found: [number, number][] = [];
    for (const decode of [false, true]) {
      if (decode && !text.includes('%')) continue;
      const seen = decode ? viewOf(text, true).text : text.replace(skipped, '');
      const places = [...placesOf(exact, seen), ...placesOf(anyCase, lowerCase(seen))];
      if (places.length === 0) continue;
      const { from, to } = viewOf(text, decode);
      for (const [first, last] of places) found.push([from[first] ?? 0, to[last] ?? text.length]);
    }
    return replaced(text, found);
  };
}

interface Spellings {
  readonly exact: ReadonlySet<string>;
  readonly anyCase: ReadonlySet<string>;
}

function allSpellings(secrets: readonly string[]): Spellings {
  const spellings = secrets.flatMap(spellingsOf);
  const textsOf = (anyCase: boolean) =>
    new Set(spellings.filter((spelling) => spelling.anyCase === anyCase).map(({ text }) => text));
  return { exact: textsOf(false), anyCase: textsOf(true) };
}

/** Characters that a `Beginnings` compares: as many as fit in an integer. */
const compared = 4;
/** The digits of a spelling of octets, and how many bits each stands for. */
const hexadecimal = { digits: '0123456789abcdef', bits: 4 };
const base64 = { digits: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', bits: 6 };
/** Bits of the first octet that belong to a digit of base64 with octets before it: of none, two and one of them. */
const sharedBits = [0, 2, 4];

/**
 * How the spellings of secrets begin, in any case. A message is compared with all of them in one pass and as it stands,
 * so that nothing is copied of one in which none begins, and no secret is spelled out for it.
 */
class Beginnings {
  readonly #all = new Set<number>();
  /** By a hash: whether it is worth looking in `#all`. */
  readonly #hashed = new Uint8Array(1024);

  /** @param secrets distinct ones */
  constructor(secrets: readonly string[]) {
    for (const secret of secrets) {
      this.#addText(secret.replace(skipped, ''));
      const utf8 = Buffer.from(secret, 'utf8');
      this.#addOctets(utf8);
      if (base64Key.test(secret)) this.#addOctets(Buffer.from(secret, 'base64'));
      else this.#addText(utf8.toString('latin1').replace(skipped, ''));
    }
  }

  /** Of octets as `spellingsOf` spells them. */
  #addOctets(octets: Buffer): void {
    const first = octets.readUInt32BE(0);
    this.#addText(firstDigits(first, hexadecimal, 0));
    for (const before of sharedBits) this.#addText(firstDigits(first, base64, before));
  }

  /** Also in the alphabet of base64 for URLs. */
  #addText(text: string): void {
    this.#add(beginningOf(text));
    if (/[+/]/.test(text)) this.#add(beginningOf(forUrls(text)));
  }

  #add(beginning: number): void {
    this.#all.add(beginning);
    this.#hashed[hashOf(beginning)] = 1;
  }

  /** False: no text of them is in this one, whatever is skipped. */
  areIn(text: string): boolean {
    let last = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (isSkipped(code)) continue;
      last = followedBy(last, code);
      if (this.#hashed[hashOf(last)] === 1 && this.#all.has(last)) return true;
    }
    return false;
  }
}

/** The first digits of these octets from the bit `from` on. */
function firstDigits(
  octets: number,
  { digits, bits }: { digits: string; bits: number },
  from: number,
): string {
  let text = '';
  for (let at = from; text.length < compared; at += bits)
    text += digits.charAt((octets >>> (32 - bits - at)) & (2 ** bits - 1));
  return text;
}

function beginningOf(text: string): number {
  let last = 0;
  for (let at = 0; at < compared; at += 1) last = followedBy(last, text.charCodeAt(at));
  return last;
}

/** Base64 in the alphabet for URLs and file names (RFC 4648 section 5). */
function forUrls(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_');
}

/** The last characters with one more: a letter is the same in both cases. */
function followedBy(last: number, code: number): number {
  return (last << 8) | ((code | 0x20) & 0xff);
}

function hashOf(last: number): number {
  return Math.imul(last, 0x9e3779b1) >>> 22;
}

/** Of the characters with codes of one octet: 1 for those that are skipped. */
const skippedOctets = Uint8Array.from({ length: 256 }, (_, code) =>
  Number(String.fromCharCode(code).replace(skipped, '') === ''),
);

function isSkipped(code: number): boolean {
  if (code < 256) return skippedOctets[code] === 1;
  return String.fromCharCode(code).replace(skipped, '') === '';
}

/** With every character at its place: this capital letter alone becomes two characters. */
function lowerCase(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase();
}

/** First and last character of each occurrence. */
function placesOf(all: ReadonlySet<string>, text: string): [number, number][] {
  const places: [number, number][] = [];
  for (const wanted of all) {
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
      places.push([at, at + wanted.length - 1]);
    }
  }
  return places;
}

interface View {
  readonly text: string;
  /** Start and end of each character in the original. */
  readonly from: readonly number[];
  readonly to: readonly number[];
}

function viewOf(text: string, decode: boolean): View {
  const from: number[] = [];
  const to: number[] = [];
  let seen = '';
  for (let at = 0; at < text.length; ) {
    const begin = at;
    let character = text.charAt(at);
    at += 1;
    // Encoded once or several times: %41, %2541, %252541.
    while (decode && character === '%' && /^[0-9a-f]{2}$/i.test(text.slice(at, at + 2))) {
      character = String.fromCharCode(Number.parseInt(text.slice(at, at + 2), 16));
      at += 2;
    }
    if (character.replace(skipped, '') === '') continue;
    seen += character;
    from.push(begin);
    to.push(at);
  }
  return { text: seen, from, to };
}

function replaced(text: string, found: [number, number][]): string {
  let result = '';
  let copied = 0;
  let end = -1;
  for (const [from, to] of found.toSorted((one, other) => one[0] - other[0])) {
    if (from > end) {
      result += `${text.slice(copied, from)}REDACTED`;
      end = to;
    } else end = Math.max(end, to);
    copied = end;
  }
  return copied === 0 ? text : result + text.slice(copied);
}
