/** Mutations that typically break parsers. */
import type { Random } from '../simulation/random.ts';

const telling = [0, 1, 9, 10, 13, 32, 34, 35, 44, 48, 57, 58, 59, 60, 61, 62, 64, 92, 124, 127, 128, 255];
const numbers = [
  '0',
  '-1',
  '1',
  '65535',
  '65536',
  '4294967295',
  '4294967296',
  '99999999999999999999',
  '1e9',
  '0x10',
  '',
];
const longest = 65_536;
/** Mostly short: a long input takes as much time as many short ones and finds the same. */
const usual = 2048;

/** @param words tokens with a meaning for the target @param others inputs to copy parts from */
export function mutated(
  input: Buffer,
  others: readonly Buffer[],
  words: readonly string[],
  random: Random,
): Buffer {
  let bytes: Buffer = Buffer.from(input);
  for (let times = random.between(1, 6); times > 0; times--) bytes = changed(bytes, others, words, random);
  const most = random.chance(0.01) ? longest : Math.max(usual, input.length);
  return bytes.length > most ? bytes.subarray(0, most) : bytes;
}

function changed(bytes: Buffer, others: readonly Buffer[], words: readonly string[], random: Random): Buffer {
  const at = random.between(0, bytes.length);
  const end = Math.min(
    bytes.length,
    at + random.pick([1, 2, 4, 16, 64, 1024].map((most) => random.between(1, most))),
  );
  const put = (piece: Buffer, from = at, to = from) =>
    Buffer.concat([bytes.subarray(0, from), piece, bytes.subarray(to)]);
  switch (random.between(0, 9)) {
    case 0:
      return put(Buffer.alloc(0), at, end);
    case 1:
      return put(bytes.subarray(at, end));
    case 2:
      return put(Buffer.from([random.between(0, 255)]), at, Math.min(at + 1, bytes.length));
    case 3:
      return put(Buffer.from([random.pick(telling)]), at, Math.min(at + random.between(0, 1), bytes.length));
    case 4:
      return put(Buffer.from(random.pick(words), 'latin1'), at, random.chance(0.5) ? end : at);
    case 5: {
      const other = random.pick(others);
      const from = random.between(0, other.length);
      return put(other.subarray(from, from + random.between(1, 256)), at, random.chance(0.5) ? end : at);
    }
    case 6: {
      // Replaces a number.
      const text = bytes.toString('latin1');
      const digits = [...text.matchAll(/\d+/g)];
      if (digits.length === 0) return bytes;
      const chosen = random.pick(digits);
      return put(Buffer.from(random.pick(numbers)), chosen.index, chosen.index + chosen[0].length);
    }
    case 7: {
      const result = Buffer.from(bytes);
      if (at < result.length) result[at] = (result[at] ?? 0) ^ (1 << random.between(0, 7));
      return result;
    }
    case 8: {
      // Adds or moves a line.
      const lines = bytes.toString('latin1').split('\r\n');
      lines.splice(random.between(0, lines.length), random.between(0, 1), random.pick(lines));
      return Buffer.from(lines.join('\r\n'), 'latin1');
    }
    default: {
      const piece = bytes.subarray(at, end);
      return put(
        Buffer.concat(Array.from({ length: random.pick([2, 8, 64, 500]) }, () => piece)),
        at,
        end,
      ).subarray(0, longest);
    }
  }
}
