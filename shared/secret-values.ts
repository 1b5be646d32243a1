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

/** All spellings of one secret; none when it is too short to be distinguished from other text. */
function spellingsOf(secret: string): Spelling[] {
  if (secret.replaceAll(/[\s"\\=]/g, '').length < shortest) return [];
  const plain = secret.replace(skipped, '');
  const utf8 = Buffer.from(secret, 'utf8');
  const octets = [utf8];
  // Percent-encoding is of octets, and a text is read as one character for each.
  const decoded = utf8.toString('latin1').replace(skipped, '');
  // A key in base64 may also appear in decoded form.
  if (/^[A-Za-z0-9+/_-]{16,}={0,2}$/.test(secret)) octets.push(Buffer.from(secret, 'base64'));
  const spellings = [
    // Digits of a hash are the same in both cases.
    ...(/^[0-9a-f]+$/i.test(plain) ? [{ text: plain.toLowerCase(), anyCase: true }] : []),
    { text: decoded, anyCase: false },
    { text: plain, anyCase: false },
    { text: plain.replaceAll('+', '-').replaceAll('/', '_'), anyCase: false },
    ...octets.flatMap((bytes) => [
      { text: bytes.toString('hex'), anyCase: true },
      ...alignedBase64(bytes).flatMap((text) => [
        { text, anyCase: false },
        { text: text.replaceAll('+', '-').replaceAll('/', '_'), anyCase: false },
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

/** Replaces every known secret in a text by `REDACTED`. The spellings of the secrets are determined once. */
export function redactorOf(secrets: Iterable<string>): (text: string) => string {
  const spellings = [...new Set(secrets)].flatMap(spellingsOf);
  const exact = new Set(spellings.filter(({ anyCase }) => !anyCase).map(({ text }) => text));
  const anyCase = new Set(spellings.filter((spelling) => spelling.anyCase).map(({ text }) => text));
  if (spellings.length === 0) return (text) => text;
  const beginnings = new Beginnings([...exact, ...anyCase]);
  return (text) => {
    // Hardly any message has a secret that its place did not give away.
    if (!text.includes('%') && !beginnings.areIn(text)) return text;
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

/** Characters that a `Beginnings` compares: as many as fit in an integer. */
const compared = 4;

/**
 * How texts begin, in any case. A message is compared with all of them in one pass and as it stands, so that nothing is
 * copied of one in which none begins.
 */
class Beginnings {
  readonly #all: ReadonlySet<number>;
  /** By a hash: whether it is worth looking in `#all`. */
  readonly #hashed = new Uint8Array(1024);

  /** @param texts of at least as many characters, none of them skipped */
  constructor(texts: readonly string[]) {
    const all = new Set<number>();
    for (const text of texts) {
      let last = 0;
      for (let at = 0; at < compared; at += 1) last = followedBy(last, text.charCodeAt(at));
      all.add(last);
      this.#hashed[hashOf(last)] = 1;
    }
    this.#all = all;
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
