import { expect, it } from 'vitest';
import { isChallenged, q850Cause, redirectTargets, warningCode, warningText } from './refusal.ts';

it.each([
  ['Q.850;cause=17;text="User busy"', 17],
  ['SIP;cause=480;text="x", q.850 ; cause = 21', 21],
  ['Q.850;text="cause=3";cause=1', 1],
  ['SIP;cause=200;text="Q.850;cause=17"', null],
  ['Q.850;cause=0', null],
  ['Q.850;cause=1700', null],
  ['', null],
])('reads the Q.850 cause of %s', (reason, cause) => {
  expect(q850Cause({ reason })).toBe(cause);
});

it('reads code and text of a Warning', () => {
  const warning = '305 pbx.example.com "no \\"SRTP\\""';
  expect(warningCode({ warning })).toBe(305);
  expect(warningText({ warning })).toBe('no "SRTP"');
  expect(warningCode({})).toBeNull();
});

it('shows the targets of a redirect, without passwords, headers and illegal characters', () => {
  const contact =
    '"A, B" <sip:alice:secret@new.example.com:5061;transport=tls?Subject=x>;q=0.9, sips:b@\u0007c.example.com;q=0.1';
  expect(redirectTargets({ contact })).toEqual([
    'sip:alice@new.example.com:5061;transport=tls',
    'sips:b@c.example.com',
  ]);
  expect(redirectTargets({ contact: Array(9).fill('<sip:a@b>').join(',') })).toHaveLength(3);
  expect(redirectTargets({})).toEqual([]);
});

it('recognizes a challenge', () => {
  expect(isChallenged(401, { 'www-authenticate': 'Digest realm="a"' })).toBe(true);
  expect(isChallenged(407, { 'www-authenticate': 'Digest realm="a"' })).toBe(false);
  expect(isChallenged(403, {})).toBe(true);
});
