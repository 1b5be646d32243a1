/**
 * What the body of an answer with speech is: raw samples, a WAV file, or something that must not be played as samples, which
 * may follow samples, too.
 */
import { SpeechError } from './speech.ts';

/** Octets from which most bodies can be told: the head of a WAV file with one `fmt ` chunk. */
const headOctets = 44;

/** Hz */
const possibleRates = { from: 8000, to: 48_000 };

/** `wav`: the rate is in its head. A number: raw samples of this rate, Hz. */
export type SpeechBody = 'wav' | number;

/**
 * @param type Content-Type of the answer
 * @param head the first octets, as of `withWholeHead`
 * @param rawRate Hz of raw samples where the type names none
 * @throws SpeechError for a compressed format, which would be heard as loud noise
 */
export function speechBody(type: string, head: Uint8Array, rawRate: number): SpeechBody {
  if (starts(head, 'RIFF')) return 'wav';
  if (isWords(head)) throw wordsInPlace(head);
  const format = compressedFormat(type, head);
  if (format) throw new SpeechError(`the speech server sent ${format} in place of 16-bit PCM`);
  const named = Number(/;\s*rate\s*=\s*"?(\d+)/i.exec(type)?.[1]);
  return named >= possibleRates.from && named <= possibleRates.to ? named : rawRate;
}

/** The same chunks; the first one has the octets that tell what the body is, unless the body is shorter. */
export async function* withWholeHead(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Uint8Array | null = new Uint8Array(0);
  for await (const chunk of chunks) {
    if (!head) {
      yield chunk;
      continue;
    }
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    if (head.length < headOctets || mayBeAdts(head)) continue;
    yield head;
    head = null;
  }
  if (head && head.length > 0) yield head;
}

/**
 * The samples of a body without what words there are after them: of a server that fails in the midst of a text, or of a proxy
 * that appends its page. A WAV file stays as it is.
 * @throws SpeechError where the words begin
 */
export async function* beforeWords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFile: boolean | null = null;
  let held: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    isFile ??= starts(chunk, 'RIFF');
    if (isFile) {
      yield chunk;
      continue;
    }
    const octets: Uint8Array = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const { at, areCertain } = wordsAfter(octets);
    if (at > 0) yield octets.subarray(0, at);
    held = octets.subarray(at);
    if (areCertain) throw wordsInPlace(held);
  }
  if (held.length > 0) yield held;
}

/** @param octets of samples @throws SpeechError when they end with words */
export function refuseWordsAfter(octets: Uint8Array): void {
  const { at, areCertain } = wordsAfter(octets);
  if (areCertain) throw wordsInPlace(octets.subarray(at));
}

/** What servers and proxies tell of errors with: JSON, or a page. */
const beginOfWords = /\{\s{0,99}"[\w .-]{1,40}"\s{0,99}:|<(?:!doctype|html|\?xml)/i;
/** The same, as far as it has come. */
const cutBegin = /(?:\{\s{0,99}(?:"[\w .-]{0,40}(?:"\s{0,99})?)?|<[!?]?[a-z]{0,6})$/i;
/** Octets of words of which it is certain that they are no sound. */
const fewestCertain = 12;

/** Where words begin that go on to the end of the octets; the end where there are none. */
function wordsAfter(octets: Uint8Array): { at: number; areCertain: boolean } {
  let from = octets.length;
  while (from > 0 && mayBeText(octets[from - 1] ?? 0)) from--;
  const text = Buffer.from(octets.subarray(from)).toString('latin1');
  const begin = text.search(beginOfWords);
  if (begin >= 0 && isUtf8(octets.subarray(from + begin)))
    return { at: from + begin, areCertain: text.length - begin >= fewestCertain };
  const plain = plainAfter(octets);
  if (plain.areCertain) return plain;
  const cut = text.search(cutBegin);
  return { at: cut < 0 ? plain.at : Math.min(plain.at, from + cut), areCertain: false };
}

/**
 * Letters and spaces of which it is certain that they are words and no sound, those of them that are different, and what
 * each other character costs.
 */
const fewestPlain = 16;
const fewestDifferent = 6;
const otherCosts = 3;
/** Octets of the end that are looked at. */
const lookedAt = 64;

/**
 * Where plain words begin that go on to the end of the octets, such as "upstream connect error"; or where they may, as far
 * as they have come. Samples are not taken for them: each would be a loud one whose lower octet is a letter by chance, and
 * of one octet of two the values would leap to and fro.
 */
function plainAfter(octets: Uint8Array): { at: number; areCertain: boolean } {
  let from = octets.length;
  while (from > 0 && isPrintable(octets[from - 1] ?? 0)) from--;
  const end = octets.subarray(Math.max(from, octets.length - lookedAt));
  const letters =
    Buffer.from(end)
      .toString('latin1')
      .match(/[a-z ]/gi) ?? [];
  const others = end.length - letters.length;
  const areCertain =
    letters.length - otherCosts * others >= fewestPlain &&
    new Set(letters).size >= fewestDifferent &&
    leaps(end, 0) &&
    leaps(end, 1);
  return { at: areCertain ? from : Math.max(from, octets.length - fewestPlain + 1), areCertain };
}

/** Least difference of two letters, and how often it goes the other way, that the higher octets of samples do not have. */
const leastLeap = 3;
const fewestTurns = 2;

/** Whether every second octet leaps up and down, as the letters of words do. */
function leaps(octets: Uint8Array, first: number): boolean {
  let turns = 0;
  let former = 0;
  for (let at = first + 2; at < octets.length; at += 2) {
    const leap = (octets[at] ?? 0) - (octets[at - 2] ?? 0);
    if (Math.abs(leap) < leastLeap) continue;
    if (leap * former < 0) turns++;
    former = leap;
  }
  return turns >= fewestTurns;
}

const isPrintable = (octet: number) => (octet >= 0x20 && octet < 0x7f) || (octet >= 9 && octet <= 13);

const mayBeText = (octet: number) => (octet >= 0x20 && octet !== 0x7f) || (octet >= 9 && octet <= 13);

/** The last character may be incomplete. */
function isUtf8(octets: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(octets, { stream: true });
    return true;
  } catch {
    return false;
  }
}

const wordsInPlace = (octets: Uint8Array) =>
  new SpeechError(`the speech server sent words in place of sound: ${wordsOf(octets)}`);

/** What a file of another format begins with, and where. */
const signatures: readonly (readonly [format: string, text: string, at: number])[] = [
  ['MP3', 'ID3', 0],
  ['Ogg', 'OggS', 0],
  ['FLAC', 'fLaC', 0],
  ['M4A', 'ftyp', 4],
  ['WebM', '\x1aE\xdf\xa3', 0],
  ['AIFF', 'FORM', 0],
  ['AU', '.snd', 0],
];

/** Types of raw samples, with which servers may send any first octets. */
const rawTypes = /^audio\/(x-)?(pcm|raw|l16|wav|wave)\b/i;

function compressedFormat(type: string, head: Uint8Array): string | null {
  const found = signatures.find(([, text, at]) => starts(head, text, at));
  if (found) return found[0];
  if (isAdts(head)) return 'AAC';
  return !rawTypes.test(type) && isMpegFrame(head) ? 'MP3' : null;
}

/** Fewer octets than this may be sound that looks like words. */
const fewestCharacters = 8;

/** An error in the place of sound, with the type of sound: samples are not all printable ASCII. */
function isWords(head: Uint8Array): boolean {
  return head.length >= fewestCharacters && /^[\t\n\r\x20-\x7e]+$/.test(wordsOf(head));
}

function wordsOf(head: Uint8Array): string {
  return new TextDecoder().decode(head.subarray(0, headOctets));
}

/** The header of a frame of MPEG audio: sync, layer III, with a bit rate and a sample rate that exist. */
function isMpegFrame([sync = 0, second = 0, third = 0]: Uint8Array): boolean {
  const isLayer3 = sync === 0xff && (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08;
  const bitRate = third >> 4;
  return isLayer3 && bitRate > 0 && bitRate < 15 && (third & 0x0c) !== 0x0c;
}

/** Frames one after the other that are no chance: samples may look like the header of one. */
const fewestFrames = 3;
const adtsHeaderOctets = 7;

/** Whether a body is AAC without a file around it: frames of ADTS (ISO/IEC 13818-7 section 6.2), or it ends with one. */
function isAdts(head: Uint8Array): boolean {
  const { frames, end } = adtsFrames(head);
  return frames >= fewestFrames || (frames > 0 && end === head.length);
}

/** Whether further octets decide. */
function mayBeAdts(head: Uint8Array): boolean {
  const { frames, end } = adtsFrames(head);
  return frames > 0 && frames < fewestFrames && end + adtsHeaderOctets > head.length;
}

/** The first frames of one and the same format, and where the last of them ends. */
function adtsFrames(octets: Uint8Array): { frames: number; end: number } {
  const [first = 0, second = 0, third = 0, fourth = 0] = octets;
  const hasSync = first === 0xff && (second & 0xf6) === 0xf0 && ((third >> 2) & 0x0f) < 13;
  const format = [first, second, third, fourth & 0xf0];
  let frames = 0;
  let end = 0;
  while (hasSync && frames < fewestFrames) {
    const header = octets.subarray(end, end + adtsHeaderOctets);
    const [h0, h1, h2, h3 = 0, h4 = 0, h5 = 0] = header;
    const length = ((h3 & 3) << 11) | (h4 << 3) | (h5 >> 5);
    const isOfFormat = [h0, h1, h2, h3 & 0xf0].every((octet, at) => octet === format[at]);
    if (header.length < adtsHeaderOctets || !isOfFormat || length <= adtsHeaderOctets) break;
    frames++;
    end += length;
  }
  return { frames, end };
}

function starts(octets: Uint8Array, text: string, at = 0): boolean {
  return [...text].every((character, i) => octets[at + i] === character.charCodeAt(0));
}
