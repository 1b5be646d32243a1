import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { connectionFailure } from '#shared/connection-faults.ts';
import { statusMeanings } from '#shared/sip-status.ts';
import { terminations } from '#shared/termination.ts';
import type { DialRefusal } from '../ports/dialing.ts';
import type { AttemptOutcome, Phase } from '../ports/routes.ts';
import { attemptProblem } from './cause-words.ts';
import { causeOf, probeSucceeded, q850Kinds, reachableBy } from './outbound-cause.ts';

const beforeRinging: readonly Phase[] = ['silent', 'trying'];
const afterRinging: readonly Phase[] = ['ringing', 'early_media'];
const phases = [...beforeRinging, ...afterRinging];
const statuses = Object.keys(statusMeanings).map(Number);

/** RFC 3261 section 21 and its extensions, from the IANA registry. */
const registered = [
  ...[300, 301, 302, 305, 380],
  ...[400, 401, 402, 403, 404, 405, 406, 407, 408, 410, 412, 413, 414, 415, 416, 417, 420, 421, 422, 423],
  ...[424, 425, 428, 429, 430, 433, 436, 437, 438, 439, 440, 469, 470, 480, 481, 482, 483, 484, 485, 486],
  ...[487, 488, 489, 491, 493, 494],
  ...[500, 501, 502, 503, 504, 505, 513, 555, 580],
  ...[600, 603, 604, 606, 607, 608],
];

function final(
  status: number,
  phase: Phase = 'silent',
  credentialsSent = false,
  said: Partial<DialRefusal> = {},
): AttemptOutcome {
  const plain = { status, reason: 'Phrase', warning: null, retryAfterS: null };
  const refusal = { ...plain, authenticated: credentialsSent, ...said };
  return { kind: 'final', status, phase, credentialsSent, refusal };
}

const words = (outcome: AttemptOutcome, credentials: { realm: string | null } | null = null) =>
  attemptProblem({
    peer: 'pbx.example.com:5061',
    to: '+14155550123',
    outcome,
    credentials,
    codecs: ['PCMU'],
  });

describe('the cause of a call that was not answered', () => {
  it('is defined for every registered status', () => {
    expect(statuses).toEqual(registered);
  });

  interface Row {
    readonly statuses: readonly number[];
    readonly sent: boolean;
    readonly code: string;
    readonly trigger: string | null;
    readonly codeAfter: string;
  }

  const rows: Row[] = readFileSync(new URL('../../../docs/outbound-calls.md', import.meta.url), 'utf8')
    .split('\n')
    .flatMap((line): Row[] => {
      const [, said = '', code = '', trigger = '', codeAfter = ''] = line
        .split('|')
        .map((cell) => cell.trim());
      const listed = /^\d{3}(?:, \d{3})*/.exec(said)?.[0];
      if (listed === undefined) return [];
      return [
        {
          statuses: listed.split(', ').map(Number),
          sent: said.includes('to our credentials'),
          code: code.replaceAll('`', ''),
          trigger: trigger === '-' ? null : trigger.replaceAll('`', ''),
          codeAfter: codeAfter.replaceAll('`', ''),
        },
      ];
    });

  it('is documented for every status', () => {
    expect([...new Set(rows.flatMap((row) => row.statuses))].toSorted((a, b) => a - b)).toEqual(registered);
  });

  it.each(rows.flatMap((row) => row.statuses.map((status) => ({ ...row, status }))))(
    'matches the documentation: $status, credentials sent $sent',
    ({ status, sent, code, trigger, codeAfter }) => {
      for (const phase of beforeRinging) {
        expect(causeOf(final(status, phase, sent))).toMatchObject({
          code,
          trigger,
          sipCode: status,
          error: trigger,
        });
      }
      for (const phase of afterRinging) {
        expect(causeOf(final(status, phase, sent))).toMatchObject({
          code: codeAfter,
          trigger: null,
          reachable: true,
        });
      }
    },
  );

  it('never mentions credentials that were not sent', () => {
    for (const status of statuses)
      for (const phase of phases) {
        expect(words(final(status, phase))).not.toMatch(/our user name|our credentials|after authentication/);
        expect(causeOf(final(status, phase))?.trigger).not.toBe('auth_failure');
      }
  });

  it('never fails over once the call rang, whatever the response says', () => {
    for (const status of statuses)
      for (const phase of afterRinging)
        for (const sent of [true, false])
          for (const q850 of [null, 1, 17, 21, 34, 41, 88])
            for (const warningCode of [null, 304, 399])
              expect(causeOf(final(status, phase, sent, { q850, warningCode }))?.trigger).toBeNull();
  });

  it('blames rejected media on the trunk, not on the callee', () => {
    for (const status of [415, 488, 606])
      for (const phase of phases) {
        const cause = causeOf(final(status, phase));
        expect(cause?.code).toBe('route_media_refused');
        expect(terminations[cause?.code ?? 'internal_error'].party).toBe('trunk');
      }
  });

  it.each([
    [799, 'route_refused'],
    [499, 'route_refused'],
    [399, 'route_refused'],
    [599, 'route_failed'],
    [699, 'callee_busy'],
  ])('of an unknown status is that of its class: %i', (status, code) => {
    expect(causeOf(final(status))?.code).toBe(code);
  });
});

describe('a Reason header', () => {
  it.each([
    [503, 17, 'callee_busy'],
    [500, 1, 'callee_unknown'],
    [480, 17, 'callee_busy'],
    [480, 21, 'callee_refused'],
    [603, 17, 'callee_busy'],
    [403, 21, 'callee_refused'],
    [502, 27, 'no_answer'],
    // RFC 3398 section 7.2.4.1: a gateway maps "no user responding" to 408.
    [408, 18, 'no_answer'],
    [408, 17, 'callee_busy'],
    [500, 88, 'route_media_refused'],
    [403, 57, 'route_refused'],
  ])('explains %i by Q.850 cause %i', (status, q850, code) => {
    for (const sent of [true, false])
      expect(causeOf(final(status, 'silent', sent, { q850 }))).toMatchObject({
        code,
        trigger: null,
        reachable: true,
      });
  });

  it('keeps a 408 with a network timer cause as it is', () => {
    expect(causeOf(final(408, 'silent', false, { q850: 102 }))).toMatchObject({
      code: 'route_timeout',
      trigger: 'timeout',
      reachable: false,
    });
  });

  it('keeps a 503 with a network congestion cause as it is', () => {
    expect(causeOf(final(503, 'silent', false, { q850: 34 }))).toMatchObject({
      code: 'route_unreachable',
      trigger: 'unreachable',
    });
  });

  it('does not change a status that is specific enough', () => {
    for (const q850 of Object.keys(q850Kinds).map(Number)) {
      expect(causeOf(final(486, 'silent', false, { q850 }))?.code).toBe('callee_busy');
      expect(causeOf(final(404, 'silent', false, { q850 }))?.code).toBe('callee_unknown');
      expect(causeOf(final(401, 'silent', true, { q850 }))?.trigger).toBe('auth_failure');
    }
  });
});

describe('a Warning header', () => {
  it('about the session makes a rejection a media problem', () => {
    for (const status of [400, 403, 406, 500, 603])
      expect(causeOf(final(status, 'silent', false, { warningCode: 305 }))?.code).toBe('route_media_refused');
  });

  it('of another kind is only quoted', () => {
    expect(causeOf(final(403, 'silent', false, { warningCode: 399 }))?.code).toBe('route_refused');
    expect(words(final(403, 'silent', false, { warningCode: 399, warning: 'account closed' }))).toMatch(
      /\(403 Phrase: account closed\)\.$/,
    );
  });
});

describe('what a person reads', () => {
  it.each<[string, AttemptOutcome, RegExp]>([
    ['403 without credentials', final(403), /^pbx.example.com:5061 rejected the call; allow our addresses/],
    ['403 after it rang', final(403, 'ringing'), /^\+14155550123 declined the call/],
    ['503 after it rang', final(503, 'ringing'), /failed to complete the call after \+14155550123 rang/],
    [
      '503',
      final(503, 'silent', false, { retryAfterS: 30 }),
      /overloaded \(503 Phrase; try again after 30 s\)/,
    ],
    [
      'a redirect',
      final(302, 'silent', false, { contacts: ['sip:new.example.com'] }),
      /to sip:new\.example\.com;/,
    ],
    [
      'a 401 without challenge',
      final(401, 'silent', false, { challenged: false }),
      /has no usable challenge/,
    ],
    ['Q.850', final(480, 'silent', false, { q850: 17 }), /is busy \(480 Phrase; Q\.850 cause 17\)/],
  ])('%s', (_what, outcome, expected) => {
    expect(words(outcome)).toMatch(expected);
  });
});

describe('without a final response', () => {
  it.each<[string, AttemptOutcome, string | null, string | null, boolean | null]>([
    [
      'no TLS connection',
      { kind: 'no_connection', failure: connectionFailure('refused', 'refused') },
      'route_unreachable',
      'unreachable',
      false,
    ],
    [
      'the connection breaks',
      { kind: 'connection_lost', phase: 'trying', failure: connectionFailure('lost', 'reset') },
      'route_unreachable',
      'unreachable',
      false,
    ],
    [
      'the connection breaks while it rings',
      { kind: 'connection_lost', phase: 'ringing', failure: connectionFailure('lost', 'reset') },
      'route_failed',
      null,
      false,
    ],
    ['no response at all', { kind: 'no_response' }, 'route_timeout', 'timeout', false],
    ['canceled by us', { kind: 'canceled' }, null, null, null],
    ['an answer', final(200), null, null, true],
  ])('%s', (_what, outcome, code, trigger, reachable) => {
    expect(causeOf(outcome)?.code ?? null).toBe(code);
    expect(causeOf(outcome)?.trigger ?? null).toBe(trigger);
    expect(reachableBy(outcome)).toBe(reachable);
  });
});

describe('the page about outbound calls', () => {
  const page = readFileSync(new URL('../../../docs/outbound-calls.md', import.meta.url), 'utf8');

  /** Cells of the row whose first cell starts with `begin`. */
  function row(begin: string): string[] {
    const line = page.split('\n').find((one) => one.startsWith(`| ${begin}`));
    if (line === undefined) throw new Error(`docs/outbound-calls.md has no row "${begin}"`);
    return line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  }

  /** The code-quoted value of a cell; null for "-". */
  const quoted = (cell: string | undefined) => /`([a-z_]+)`/.exec(cell ?? '')?.[1] ?? null;

  it('lists the Q.850 causes of a Reason header with their meaning', () => {
    const [said = '', changes = ''] = row('`Reason: Q.850;cause=`');
    const documented = [...changes.matchAll(/(\d+(?:, \d+)*): `([a-z_]+)`/g)].flatMap(
      ([, causes = '', code = '']) => causes.split(', ').map((cause) => [Number(cause), code] as const),
    );
    const general = (said.match(/\b\d{3}\b/g) ?? []).map(Number);
    expect(general.length).toBeGreaterThan(5);
    for (const status of [...general, 500, 502, 504])
      for (const [q850, code] of documented)
        expect([status, q850, causeOf(final(status, 'silent', false, { q850 }))]).toMatchObject([
          status,
          q850,
          { code, trigger: null },
        ]);
    expect(documented.map(([cause]) => cause).toSorted((a, b) => a - b)).toEqual(
      Object.keys(q850Kinds).map(Number),
    );
  });

  it('lists the Warning codes that change the meaning of a rejection', () => {
    const [said = '', changes] = row('`Warning` ');
    const [, first = 0, last = 0] = (/(\d{3}) to (\d{3})/.exec(said) ?? []).map(Number);
    const codeWith = (warningCode: number) =>
      causeOf(final(603, 'silent', false, { warningCode }))?.code ?? null;
    expect([first, last].map(codeWith)).toEqual([quoted(changes), quoted(changes)]);
    expect([first - 1, last + 1].map(codeWith)).toEqual(['callee_refused', 'callee_refused']);
  });

  it.each<[string, AttemptOutcome]>([
    ['no connection', { kind: 'no_connection', failure: connectionFailure('refused', 'refused') }],
    [
      'connection lost before it rang',
      { kind: 'connection_lost', phase: 'trying', failure: connectionFailure('lost', 'reset') },
    ],
    [
      'connection lost after it rang',
      { kind: 'connection_lost', phase: 'ringing', failure: connectionFailure('lost', 'reset') },
    ],
    ['no response in time', { kind: 'no_response' }],
  ])('has the meaning of each end without a final response: %s', (begin, outcome) => {
    const [, code, trigger] = row(begin);
    expect(causeOf(outcome)).toMatchObject({ code: quoted(code), trigger: quoted(trigger) });
  });
});

describe('what an attempt says about the endpoint', () => {
  it.each([
    [503, false],
    [408, false],
    [500, null],
    [504, null],
    [403, true],
    [486, true],
    [580, true],
    [603, true],
  ])('%i before it rang: %s', (status, reachable) => {
    expect(reachableBy(final(status))).toBe(reachable);
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
