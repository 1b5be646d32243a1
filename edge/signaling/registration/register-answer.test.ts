import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { connectionFailure } from '#shared/connection-faults.ts';
import type { Silence } from '../srf/exchange.ts';
import { judgeRegister, rportOf } from './register-answer.ts';

const asked = { askedS: 300, registrar: 'pbx.example.com:5061', credentialsSent: false };

describe('the answer to a REGISTER', () => {
  it('is evaluated whatever its headers contain, and binds for a day at most', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('<', '>', '"', ',', ';', 'expires=', '9', ' ', 'sip:a@b', '\\') }),
    );
    const headers = fc.record({ contact: text, expires: text, via: text, 'retry-after': text });
    fc.assert(
      fc.property(headers, fc.integer({ min: 200, max: 699 }), (fields, status) => {
        const sent = { contact: '<sip:a@b>' };
        const outcome = { kind: 'answered', status, reason: 'Reason', headers: fields, sent } as const;
        const verdict = judgeRegister(outcome, asked);
        if (verdict.kind === 'bound') {
          expect(verdict.expiresS).toBeGreaterThan(0);
          expect(verdict.expiresS).toBeLessThanOrEqual(86_400);
        } else if (verdict.kind === 'refused' || verdict.kind === 'unavailable') {
          expect(verdict.failure.error).toMatch(/^pbx\.example\.com:5061 .*\.$/s);
        }
      }),
    );
  });

  it.each([
    ['<sip:a@10.0.0.9:40000>;expires=120, <sip:other@192.0.2.1>;expires=9999', 120, null],
    ['<sip:other@192.0.2.1>;expires=50, "a, b" <sip:a@10.0.0.9:40000;transport=tls>;expires=120', 120, null],
    ['<sip:a@10.0.0.9:40000>;expires=120, <sip:a@10.0.0.9:40001>;expires=45', 45, null],
    ['<sip:a@10.0.0.9:40000>;expires=0, <sip:a@10.0.0.9:40001>;expires=45', 45, null],
    ['<sip:a@10.0.0.9:40001>;expires=45, <sip:a@b>;expires=90', 90, null],
    ['<sip:other@192.0.2.1>;expires=50', 300, expect.stringContaining('only Contacts of others')],
  ])('whose list of bindings is %s grants %i s', (contact, expiresS, doubt) => {
    const sent = { contact: '<sip:a@b>' };
    const outcome = { kind: 'answered', status: 200, reason: 'OK', headers: { contact }, sent } as const;
    expect(judgeRegister(outcome, asked)).toMatchObject({ kind: 'bound', expiresS, doubt });
  });

  it.each([
    ['<sip:a@[2001:db8::1]:5061;transport=tls>', '<sip:a@[2001:DB8:0::1];transport=tls>'],
    ['<sip:a@Edge.example:5061;transport=tls>', '<sip:a@edge.example.;transport=tls>'],
  ])('matches our Contact %s with %s among others of its user', (ours, listed) => {
    const headers = { contact: `<sip:a@192.0.2.9:4000>;expires=45, ${listed};expires=90` };
    const sent = { contact: ours };
    const outcome = { kind: 'answered', status: 200, reason: 'OK', headers, sent } as const;
    expect(judgeRegister(outcome, asked)).toMatchObject({ kind: 'bound', expiresS: 90 });
  });

  it('uses, of several Contacts with its user, the one with the port that the registrar sees', () => {
    const contact = '<sip:a@10.0.0.9:40001>;expires=45, <sip:a@10.0.0.9:40000>;expires=120';
    const headers = { contact, via: 'SIP/2.0/TLS b;branch=z9hG4bK1;rport=40000;received=10.0.0.9' };
    const sent = { contact: '<sip:a@b>' };
    const verdict = judgeRegister({ kind: 'answered', status: 200, reason: 'OK', headers, sent }, asked);
    expect(verdict).toEqual({ kind: 'bound', expiresS: 120, sipCode: 200, rport: 40_000, doubt: null });
  });

  const answered = (status: number, credentialsSent: boolean, headers: Record<string, string> = {}) =>
    judgeRegister(
      { kind: 'answered', status, reason: 'Phrase', headers, sent: {} },
      { ...asked, credentialsSent },
    );

  it.each([
    [403, false, {}, true, 'forbids this registration; check the account there, and that'],
    [403, true, {}, true, 'rejected our user name and password; the account there must have the'],
    [403, false, { warning: '399 pbx "account locked"' }, true, /\(403 Phrase: account locked\)\.$/],
    [404, true, {}, true, 'does not know this user; check the user name'],
    [604, true, {}, true, 'does not know this user; check the user name'],
    [
      302,
      false,
      { contact: '<sip:new.example.com>' },
      true,
      'redirects the registration to sip:new.example.com;',
    ],
    [405, false, {}, true, 'rejected the registration (405 Phrase)'],
    [423, false, {}, true, 'rejects the interval as too brief and names no minimum (423'],
    [480, false, {}, false, 'rejected the registration (480 Phrase)'],
    [500, false, {}, false, 'failed to handle the registration (500 Phrase)'],
    [503, false, { 'retry-after': '30' }, false, /overloaded \(503 Phrase; try again after 30 s\)\.$/],
    [603, false, {}, true, 'rejected the registration (603 Phrase)'],
  ] as const)('explains %i (credentials sent: %s, %j)', (status, sent, headers, lasting, words) => {
    const verdict = answered(status, sent, headers);
    if (verdict.kind !== 'refused' && verdict.kind !== 'unavailable') throw new Error(verdict.kind);
    expect(verdict.failure).toMatchObject({ sipCode: status, lasting });
    expect(verdict.failure.error).toMatch(words);
  });

  it.each([
    ['refused', 'Nothing listens at pbx.example.com:5061: the connection was refused'],
    ['certificate_expired', 'The certificate of pbx.example.com:5061 has expired'],
    ['handshake_timeout', 'did not finish the TLS handshake in time'],
  ] as const)('reports the failure "%s" in the same words as calls', (fault, words) => {
    const why = { kind: 'unreachable', failure: connectionFailure(fault, 'text') } as const;
    expectUnavailable(why, words);
  });

  it.each([
    ['timeout', 'did not respond to the REGISTER in time; check'],
    ['no_engine', 'pbx.example.com:5061 cannot be reached: the SIP engine is not connected.'],
  ] as const)('reports that there was no answer because of a %s', (kind, words) => {
    expectUnavailable({ kind }, words);
  });

  function expectUnavailable(why: Silence, words: string): void {
    const verdict = judgeRegister({ kind: 'silent', why }, asked);
    expect(verdict).toMatchObject({ kind: 'unavailable', failure: { sipCode: null, lasting: false } });
    expect(verdict.kind === 'unavailable' && verdict.failure.error).toMatch(words);
  }

  it.each([
    [{ via: 'SIP/2.0/TLS a:5061;branch=z9hG4bK1;rport=40000;received=192.0.2.1' }, 40_000],
    [{ via: 'SIP/2.0/TLS a;rport=1, SIP/2.0/TLS b;rport=2' }, 1],
    [{ v: 'SIP/2.0/TLS a ; rport = 77' }, 77],
    [{ via: 'SIP/2.0/TLS a;branch=z9hG4bK1;rport' }, null],
    [{ via: 'SIP/2.0/TLS a, SIP/2.0/TLS b;rport=2' }, null],
    [{}, null],
  ])('gives with %j the port that the registrar sees', (headers, rport) => {
    expect(rportOf(headers)).toBe(rport);
  });
});
