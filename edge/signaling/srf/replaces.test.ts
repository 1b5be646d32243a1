import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseReplaces } from './replaces.ts';

describe('a Replaces header', () => {
  it.each([
    ['98732@sip.example.com;from-tag=r33th4x0r;to-tag=ff87ff', false],
    [' 98732@sip.example.com ; To-Tag = ff87ff;from-tag=r33th4x0r;x=y', false],
    ['98732@sip.example.com;to-tag=ff87ff;from-tag=r33th4x0r;early-only', true],
  ])('names a dialog: %s', (value, earlyOnly) => {
    expect(parseReplaces(value)).toEqual({
      callId: '98732@sip.example.com',
      toTag: 'ff87ff',
      fromTag: 'r33th4x0r',
      earlyOnly,
    });
  });

  it.each([
    '',
    'a@b',
    'a@b;to-tag=1',
    'a@b;from-tag=1',
    ';to-tag=1;from-tag=2',
    'a@b@c;to-tag=1;from-tag=2',
    'a@b;to-tag=1;to-tag=2;from-tag=3',
    'a@b;to-tag=;from-tag=3',
    'a@b;to-tag=1;from-tag=2,c@d;to-tag=1;from-tag=2',
  ])('is rejected unless it is exactly one well-formed value: %s', (value) => {
    expect(parseReplaces(value)).toBeNull();
  });

  it('reads what it has written, and throws for no input', () => {
    const word = fc.stringMatching(/^[A-Za-z0-9.\-_~!%*+]{1,20}$/);
    fc.assert(
      fc.property(word, word, word, (callId, toTag, fromTag) => {
        const text = `${callId}@h;from-tag=${fromTag};to-tag=${toTag}`;
        expect(parseReplaces(text)).toEqual({ callId: `${callId}@h`, toTag, fromTag, earlyOnly: false });
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => void parseReplaces(text)));
  });
});
