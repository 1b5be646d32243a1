/** Offers in the styles of the systems that call the edge, each with the expected result. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { offers } from '../../../test/kit/edge/peer-offers.ts';
import { CallRefused } from '../../call/refused.ts';
import { negotiateAnswer } from './negotiate.ts';
import { parseSdp } from './sdp.ts';
import type { LocalSdes } from './session.ts';

const local: LocalSdes = {
  address: '203.0.113.10',
  rtpPort: 10_000,
  codecs: ['PCMU', 'PCMA', 'Opus'],
  cryptoKey: 'MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5',
  sessionId: '9',
  previous: null,
};

describe.each(offers)('the offer of $peer', ({ offer, session, media }) => {
  it.each([
    ['CRLF', '\r\n'],
    ['LF', '\n'],
  ])('is answered when written with %s', (_, lineEnd) => {
    const settled = negotiateAnswer(parseSdp(offer.replaceAll('\n', lineEnd)), local);
    expect(settled.session).toMatchObject(session);
    if (settled.session.keying !== 'sdes') throw new Error('not SDES');
    const lines = settled.answer.split('\r\n');
    expect(lines.filter((line) => line.startsWith('m='))).toEqual(media);
    expect(lines.filter((line) => line.startsWith('a=crypto:'))).toEqual([
      `a=crypto:${settled.session.localTag} AES_CM_128_HMAC_SHA1_80 inline:${local.cryptoKey}`,
    ]);
  });
});

it('answers or rejects every mutilated offer, and an answer always fits its offer', () => {
  const original = fc.constantFrom(...offers.map(({ offer }) => offer.split('\n')));
  const edit = fc.record({
    kind: fc.constantFrom('drop', 'double', 'move', 'cut', 'swap'),
    at: fc.nat(40),
    to: fc.nat(40),
  });
  let answered = 0;
  let refused = 0;
  fc.assert(
    fc.property(original, fc.array(edit, { minLength: 1, maxLength: 4 }), (start, edits) => {
      const lines = [...start];
      for (const { kind, at, to } of edits) {
        const index = at % Math.max(1, lines.length);
        const line = lines[index] ?? '';
        if (kind === 'drop') lines.splice(index, 1);
        else if (kind === 'double') lines.splice(index, 0, line);
        else if (kind === 'move') lines.splice(to % lines.length, 0, ...lines.splice(index, 1));
        else if (kind === 'cut') lines[index] = line.slice(0, to % (line.length + 1));
        else lines[index] = Array.from(line, (c, i) => (i === to ? '?' : c)).join('');
      }
      try {
        const offer = parseSdp(lines.join('\r\n'));
        const { answer, session } = negotiateAnswer(offer, local);
        const ours = parseSdp(answer);
        expect(ours.media.map(({ media }) => media)).toEqual(offer.media.map(({ media }) => media));
        expect(ours.media.filter(({ port }) => port !== 0)).toHaveLength(1);
        expect(answer.match(/^a=crypto:/gm)).toHaveLength(1);
        expect(session).toMatchObject({ remoteKey: expect.stringMatching(/^[A-Za-z0-9+/]{40}$/) });
        answered++;
      } catch (error) {
        if (!(error instanceof CallRefused)) throw error;
        expect(error).toMatchObject({ sipStatus: 488, warning: expect.stringMatching(/^[ -~]{5,200}$/) });
        refused++;
      }
    }),
    { numRuns: 2000 },
  );
  expect(Math.min(answered, refused)).toBeGreaterThan(200);
});
