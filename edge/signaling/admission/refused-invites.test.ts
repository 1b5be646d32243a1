/** What is reported of refused INVITEs: the first ones soon, a flood as a few rows. */
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { RefusedInvites as Refused } from '#shared/edge-protocol/refused.ts';
import { type RefusedInvite, RefusedInvites } from './refused-invites.ts';

let clock: FakeClock;
let reports: Refused[][];
let isReady: boolean;
let authenticated: Set<string>;
let leftOut: number;
let invites: RefusedInvites;

beforeEach(() => {
  clock = new FakeClock(Date.UTC(2030, 0, 1));
  reports = [];
  isReady = true;
  authenticated = new Set();
  leftOut = 0;
  invites = new RefusedInvites({
    clock,
    isReady: () => isReady,
    report: (refused) => reports.push(refused),
    hasAuthenticated: (source) => authenticated.has(source),
    leftOut: () => {
      leftOut += 1;
    },
  });
});

const refusal: RefusedInvite = {
  orgId: 'org-1',
  number: '+14155550100',
  source: '203.0.113.5',
  known: false,
  reason: 'source_not_allowed',
  sipStatus: 403,
  unanswered: false,
  detail: null,
  from: '+4930123',
  dialled: '14155550100',
  userAgent: 'PBX\r\nX: y',
  sipCallId: 'a',
};

const note = (changes: Partial<RefusedInvite> = {}) => invites.note({ ...refusal, ...changes });
const reported = () => reports.flat();
const attempts = () => reported().reduce((sum, one) => sum + one.attempts, 0);

describe('refused INVITEs', () => {
  it('are reported within seconds, with what the last one said', () => {
    note();
    clock.advance(1000);
    note({ sipCallId: 'b', unanswered: true, from: '+4930124' });
    clock.advance(1000);
    expect(reports).toEqual([
      [
        {
          org_id: 'org-1',
          number: '+14155550100',
          source: '203.0.113.5',
          reason: 'source_not_allowed',
          attempts: 2,
          unanswered: 1,
          first_at: '2030-01-01T00:00:00.000Z',
          last_at: '2030-01-01T00:00:01.000Z',
          sip_status: 403,
          detail: null,
          from: '+4930124',
          dialled: '14155550100',
          user_agent: 'PBX  X: y',
          sip_call_id: 'b',
        },
      ],
    ]);
    clock.advance(600_000);
    expect(reports).toHaveLength(1);
  });

  it('of a flood from many sources are a few rows a minute, and none is lost from the counts', () => {
    for (let second = 0; second < 180; second++) {
      for (let n = 0; n < 20; n++) note({ source: `198.51.${second}.${n}` });
      clock.advance(1000);
    }
    clock.advance(60_000);
    expect(attempts()).toBe(3600);
    // 20 sources and the row of all others, in each of three minutes.
    expect(reported().length).toBeLessThanOrEqual(3 * 21);
    expect(reported().some(({ source, number }) => source === null && number === null)).toBe(true);
    expect(leftOut).toBe(0);
  });

  it('of one source that goes on are one row at a time', () => {
    for (let second = 0; second < 600; second++) {
      note();
      clock.advance(1000);
    }
    clock.advance(60_000);
    expect(attempts()).toBe(600);
    // In each minute 20 reports within seconds, then one.
    expect(reported().length).toBeLessThanOrEqual(10 * 21 + 1);
  });

  it('of an organization are told apart whatever strangers flood it and others', () => {
    for (let n = 0; n < 100; n++) {
      note({ source: `198.51.100.${n}` });
      note({ source: `198.51.100.${n}`, orgId: null, number: null, reason: 'number_unknown' });
    }
    note({ source: '192.0.2.9', known: true, reason: 'no_agent' });
    note({ source: '198.51.100.200', orgId: 'org-2' });
    clock.advance(62_000);
    const sources = reported().map(({ source }) => source);
    expect(sources).toContain('192.0.2.9');
    expect(sources).toContain('198.51.100.200');
  });

  it('are bounded, and counted beyond', () => {
    for (let n = 0; n < 2100; n++) note({ orgId: `org-${n}` });
    expect(leftOut).toBe(100);
    clock.advance(62_000);
    expect(reported()).toHaveLength(2000);
    expect(Math.max(...reports.map((report) => report.length))).toBe(200);
  });

  it('are gathered while control is away', () => {
    isReady = false;
    note();
    clock.advance(3_600_000);
    note();
    expect(reports).toEqual([]);
    isReady = true;
    clock.advance(2000);
    expect(reported()).toMatchObject([{ attempts: 2, first_at: '2030-01-01T00:00:00.000Z' }]);
  });

  it('that only asked for credentials are none when the source gives them', () => {
    note({ reason: 'challenged', source: '203.0.113.5' });
    note({ reason: 'challenged', source: '203.0.113.6' });
    authenticated.add('203.0.113.5');
    clock.advance(4000);
    expect(reports).toEqual([]);
    clock.advance(60_000);
    expect(reported()).toMatchObject([{ source: '203.0.113.6', reason: 'challenged' }]);
  });

  it('of IPv6 are counted by the /64, in which one host has all addresses', () => {
    note({ source: '2001:db8:1:2::1' });
    note({ source: '2001:db8:1:2:aaaa::2' });
    clock.advance(2000);
    expect(reported()).toMatchObject([{ attempts: 2 }]);
  });
});
