import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../test/kit/any-character.ts';
import { replacingUri, withHeaders } from './referral.ts';

describe('the URI of a Refer-To', () => {
  it('contains escaped headers, or none', () => {
    expect(withHeaders('sip:201@pbx', {})).toBe('sip:201@pbx');
    expect(withHeaders('sip:201@pbx', { 'X-Note': 'a b&c=d?', 'User-to-User': '6869;encoding=hex' })).toBe(
      'sip:201@pbx?X-Note=a%20b%26c%3Dd%3F&User-to-User=6869%3Bencoding%3Dhex',
    );
  });

  it('keeps headers already in the URI', () => {
    expect(withHeaders('sip:201@pbx?A=1', { B: '2' })).toBe('sip:201@pbx?A=1&B=2');
  });

  it('names our dialog with the tags as the target sees them', () => {
    const dialog = { callId: 'c@h', localTag: 'l', remoteTag: 'r', remoteTarget: 'sip:bob@192.0.2.1:5061' };
    expect(replacingUri(dialog)).toBe('sip:bob@192.0.2.1:5061?Replaces=c%40h%3Bto-tag%3Dr%3Bfrom-tag%3Dl');
  });

  it('has one header per name, whatever its value', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (value) => {
        const [, part = ''] = withHeaders('sip:201@pbx', { 'X-Any': value }).split('?');
        expect(part).toMatch(/^X-Any=[A-Za-z0-9\-_.!~*'()%]*$/);
        expect(decodeURIComponent(part.slice('X-Any='.length))).toBe(value.toWellFormed());
      }),
    );
  });
});
