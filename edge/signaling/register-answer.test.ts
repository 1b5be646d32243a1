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
