import { describe, expect, it } from 'vitest';
import { soundOctets } from './sound-octets.ts';

const octets = Buffer.from(Array.from({ length: 200 }, (_, i) => (i * 37) & 0xff));

describe('sound as base64', () => {
  it('is read in both alphabets, padded or not, and with line breaks, whatever its length', () => {
    for (let length = 0; length <= octets.length; length++) {
      const piece = octets.subarray(0, length);
      const text = piece.toString('base64');
      const lines = text.replaceAll(/.{76}/g, '$&\r\n');
      for (const written of [text, text.replace(/=+$/, ''), piece.toString('base64url'), lines, `${text}\n`])
        expect(soundOctets(written), written).toEqual(piece);
    }
  });

  it.each([
    ['a foreign character', (text: string) => `${text.slice(0, 40)}!${text.slice(41)}`],
    ['a blank', (text: string) => `${text.slice(0, 40)} ${text.slice(41)}`],
    ['an end in its midst', (text: string) => `${text.slice(0, 40)}==${text.slice(42)}`],
    ['a character that was cut off', (text: string) => text.replace(/=+$/, '').slice(0, -2)],
    ['another text', () => 'data:audio/wav;base64,AAAA'],
  ])('is refused as a whole with %s', (_, broken) => {
    expect(soundOctets(broken(octets.toString('base64')))).toBeNull();
  });
});
