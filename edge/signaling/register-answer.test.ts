import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeRegister, rportOf } from './register-answer.ts';

describe('the answer to a REGISTER', () => {
  it('is judged whatever its headers hold, and binds for a day at most', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('<', '>', '"', ',', ';', 'expires=', '9', ' ', 'sip:a@b', '\\') }),
    );
    const headers = fc.record({ contact: text, expires: text, via: text, 'retry-after': text });
    fc.assert(
      fc.property(headers, fc.integer({ min: 200, max: 699 }), (fields, status) => {
        const sent = { contact: '<sip:a@b>' };
        const outcome = { kind: 'answered', status, reason: 'Reason', headers: fields, sent } as const;
        const verdict = judgeRegister(outcome, 300);
        if (verdict.kind === 'bound') {
          expect(verdict.expiresS).toBeGreaterThan(0);
          expect(verdict.expiresS).toBeLessThanOrEqual(86_400);
        } else if (verdict.kind === 'refused' || verdict.kind === 'unavailable') {
          expect(verdict.failure.error).toMatch(/^The registrar .*\.$/s);
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
  ])('of which the list of bindings is %s grants %i s', (contact, expiresS, doubt) => {
    const sent = { contact: '<sip:a@b>' };
    const outcome = { kind: 'answered', status: 200, reason: 'OK', headers: { contact }, sent } as const;
    expect(judgeRegister(outcome, 300)).toMatchObject({ kind: 'bound', expiresS, doubt });
  });

  it('takes of several Contacts with its user the one with the port that the registrar sees', () => {
    const contact = '<sip:a@10.0.0.9:40001>;expires=45, <sip:a@10.0.0.9:40000>;expires=120';
    const headers = { contact, via: 'SIP/2.0/TLS b;branch=z9hG4bK1;rport=40000;received=10.0.0.9' };
    const sent = { contact: '<sip:a@b>' };
    const verdict = judgeRegister({ kind: 'answered', status: 200, reason: 'OK', headers, sent }, 300);
    expect(verdict).toEqual({ kind: 'bound', expiresS: 120, rport: 40_000, doubt: null });
  });

  it.each([
    [{ via: 'SIP/2.0/TLS a:5061;branch=z9hG4bK1;rport=40000;received=192.0.2.1' }, 40_000],
    [{ via: 'SIP/2.0/TLS a;rport=1, SIP/2.0/TLS b;rport=2' }, 1],
    [{ v: 'SIP/2.0/TLS a ; rport = 77' }, 77],
    [{ via: 'SIP/2.0/TLS a;branch=z9hG4bK1;rport' }, null],
    [{ via: 'SIP/2.0/TLS a, SIP/2.0/TLS b;rport=2' }, null],
    [{}, null],
  ])('tells with %j the port that the registrar sees', (headers, rport) => {
    expect(rportOf(headers)).toBe(rport);
  });
});
