import { describe, expect, it } from 'vitest';
import type { AttemptOutcome } from '../call/ports/routes.ts';
import { judgeAttempt, probeSucceeded } from './outcome.ts';

function final(status: number, other: { ringing?: boolean; credentialsSent?: boolean } = {}): AttemptOutcome {
  return { kind: 'final', status, ringing: false, credentialsSent: false, ...other };
}

describe('judgeAttempt', () => {
  it.each<[string, AttemptOutcome, string | null, boolean | null]>([
    ['no TLS connection', { kind: 'no_connection', error: 'refused' }, 'unreachable', false],
    [
      'the connection breaks',
      { kind: 'connection_lost', ringing: false, error: 'reset' },
      'unreachable',
      false,
    ],
    ['it breaks while it rings', { kind: 'connection_lost', ringing: true, error: 'reset' }, null, false],
    ['no response at all', { kind: 'no_response' }, 'timeout', false],
    ['given up by us', { kind: 'canceled' }, null, null],
    ['503', final(503), 'unreachable', false],
    ['503 after 180', final(503, { ringing: true }), null, true],
    ['408', final(408), 'timeout', false],
    ['408 after 180', final(408, { ringing: true }), null, true],
    ['403', final(403), 'auth_failure', true],
    ['401 without credentials', final(401), null, true],
    ['401 with credentials', final(401, { credentialsSent: true }), 'auth_failure', true],
    ['407 with credentials', final(407, { credentialsSent: true }), 'auth_failure', true],
    ['403 after 180', final(403, { ringing: true }), null, true],
    ['404', final(404), null, true],
    ['480', final(480), null, true],
    ['486', final(486), null, true],
    ['487', final(487), null, true],
    ['500', final(500), null, null],
    ['504', final(504), null, null],
    ['600', final(600), null, true],
    ['603', final(603), null, true],
    ['302', final(302), null, true],
    ['an answer', final(200), null, true],
  ])('%s', (_what, outcome, trigger, reachable) => {
    expect(judgeAttempt(outcome)).toMatchObject({ trigger, reachable });
  });

  it('gives the call log what the contract shows', () => {
    expect(judgeAttempt({ kind: 'no_response' })).toMatchObject({ sipCode: null, error: 'timeout' });
    expect(judgeAttempt(final(403))).toMatchObject({ sipCode: 403, error: 'auth_failure' });
    expect(judgeAttempt({ kind: 'no_connection', error: 'certificate has expired' })).toMatchObject({
      sipCode: null,
      error: 'unreachable: certificate has expired',
    });
  });
});

describe('probeSucceeded', () => {
  it.each([
    [200, true],
    [403, true],
    [404, true],
    [405, true],
    [407, true],
    [408, false],
    [500, false],
    [503, false],
    [600, true],
    [null, false],
  ])('%s is %s', (sipCode, good) => {
    expect(probeSucceeded(sipCode)).toBe(good);
  });
});
