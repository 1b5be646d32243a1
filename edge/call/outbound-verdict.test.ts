import { describe, expect, it } from 'vitest';
import { verdictOf } from './outbound-verdict.ts';
import type { DialRefusal } from './ports/dialing.ts';

const refusal = (status: number, warning: string | null = null): DialRefusal => ({
  status,
  reason: 'Phrase',
  warning,
  retryAfterS: null,
  authenticated: false,
});

function verdict(status: number, { ringing = false, credentialsSent = false } = {}) {
  return verdictOf({ kind: 'final', status, ringing, credentialsSent }, refusal(status));
}

describe('the end of a call that was not answered', () => {
  it.each([
    [486, 'callee_busy'],
    [600, 'callee_busy'],
    [480, 'no_answer'],
    [408, 'route_timeout'],
    [503, 'route_unreachable'],
    [401, 'route_auth_failed'],
    [403, 'route_auth_failed'],
    [407, 'route_auth_failed'],
    [404, 'callee_refused'],
    [500, 'callee_refused'],
    [603, 'callee_refused'],
  ])('after %i is %s', (status, code) => {
    expect(verdict(status)).toMatchObject({ code, sipStatus: status, sipReason: 'Phrase' });
  });

  it('after 408 is no answer when it rang', () => {
    expect(verdict(408, { ringing: true }).code).toBe('no_answer');
  });

  it('says that credentials are missing, and what the trunk said of those it got', () => {
    expect(verdict(401).detail).toContain('credentials');
    expect(verdict(401, { credentialsSent: true }).detail).toBeNull();
    const outcome = { kind: 'final', status: 403, ringing: false, credentialsSent: true } as const;
    expect(verdictOf(outcome, refusal(403, 'account closed')).detail).toBe('account closed');
  });

  it('says that redirects are not followed', () => {
    expect(verdict(302)).toMatchObject({ code: 'callee_refused', detail: 'Redirects are not followed.' });
  });

  it('without a response has the cause and no status', () => {
    expect(verdictOf({ kind: 'no_connection', error: 'refused' }, null)).toEqual({
      code: 'route_unreachable',
      detail: 'refused',
    });
    expect(verdictOf({ kind: 'connection_lost', ringing: true, error: 'reset' }, null)).toEqual({
      code: 'route_unreachable',
      detail: 'reset',
    });
    expect(verdictOf({ kind: 'no_response' }, null).code).toBe('route_timeout');
  });
});
