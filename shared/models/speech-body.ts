/** What the body of an answer with speech is: raw samples, a WAV file, or something that must not be played as samples. */
import { SpeechError } from './speech.ts';

/** Octets from which a body can be told: the head of a WAV file with one `fmt ` chunk. */
const headOctets = 44;

/** Hz */
const possibleRates = { from: 8000, to: 48_000 };

/** `wav`: the rate is in its head. A number: raw samples of this rate, Hz. */
export type SpeechBody = 'wav' | number;

/**
 * @param type Content-Type of the answer
 * @param head the first octets: `headOctets`, unless there are fewer
 * @param rawRate Hz of raw samples where the type names none
 * @throws SpeechError for a compressed format, which would be heard as loud noise
 */
export function speechBody(type: string, head: Uint8Array, rawRate: number): SpeechBody {
  if (starts(head, 'RIFF')) return 'wav';
  if (isWords(head))
    throw new SpeechError(`the speech server sent words in place of sound: ${wordsOf(head)}`);
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
    if (head.length < headOctets) continue;
    yield head;
    head = null;
  }
  if (head && head.length > 0) yield head;
}

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
  return !rawTypes.test(type) && isMpegFrame(head) ? 'MP3' : null;
}

/** Fewer octets than this may be sound that looks like words. */
const fewestCharacters = 8;

/** An error in the place of sound, with the type of sound: samples are not all printable ASCII. */
function isWords(head: Uint8Array): boolean {
  return head.length >= fewestCharacters && /^[\t\n\r\x20-\x7e]+$/.test(wordsOf(head));
}

function wordsOf(head: Uint8Array): string {
  return String.fromCharCode(...head.subarray(0, headOctets));
}

/** The header of a frame of MPEG audio: sync, layer III, with a bit rate and a sample rate that exist. */
function isMpegFrame([sync = 0, second = 0, third = 0]: Uint8Array): boolean {
  const isLayer3 = sync === 0xff && (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08;
  const bitRate = third >> 4;
  return isLayer3 && bitRate > 0 && bitRate < 15 && (third & 0x0c) !== 0x0c;
}

function starts(octets: Uint8Array, text: string, at = 0): boolean {
  return [...text].every((character, i) => octets[at + i] === character.charCodeAt(0));
}
