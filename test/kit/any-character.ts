/**
 * Every character of Unicode, for `fc.string({ unit: anyCharacter })`: as its unit `binary`, which in each process first
 * makes a table of all of them, in more than a second and 100 MB.
 */
import fc from 'fast-check';

/** Code points between these belong to pairs of UTF-16 and are no characters. */
const surrogates = { first: 0xd800, count: 0x800 };
const last = 0x10ffff;

export const anyCharacter = fc.nat({ max: last - surrogates.count }).map(
  (index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count),
  (value) => {
    const point = typeof value === 'string' ? value.codePointAt(0) : undefined;
    if (point === undefined || value !== String.fromCodePoint(point)) throw new Error('not one character');
    return point < surrogates.first ? point : point - surrogates.count;
  },
);
