import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import {
  answerSession,
  readSession,
  runOfAnswer,
  SessionTimer,
  type SessionTimerFields,
  sessionHeaders,
} from './session-timer.ts';

const settings = { expiresS: 1800, minS: 90 };
const wish = (values: Partial<SessionTimerFields>): SessionTimerFields => ({
  supportsTimer: true,
  expiresS: null,
  refresher: null,
  minS: null,
  ...values,
});

describe('the session timer headers of a message', () => {
  it.each([
    [
      { supported: 'timer', 'session-expires': '1800;refresher=uac', 'min-se': '90' },
      wish({ expiresS: 1800, refresher: 'uac', minS: 90 }),
    ],
    [{ require: '100rel,timer', x: '600 ; refresher = UAS' }, wish({ expiresS: 600, refresher: 'uas' })],
    [{ 'session-expires': 'soon' }, wish({ supportsTimer: false })],
    [
      { 'session-expires': '99999999999999999999', 'min-se': '999999999' },
      wish({ supportsTimer: false, expiresS: 86_400, minS: 86_400 }),
    ],
    [{}, wish({ supportsTimer: false })],
  ])('%o', (headers: Record<string, string>, expected) => {
    expect(readSession(headers)).toEqual(expected);
  });
});

describe('the answer to them (RFC 4028 section 9, table 2)', () => {
  it.each<[string, Partial<SessionTimerFields>, ReturnType<typeof answerSession>]>([
    ['no support, no interval', { supportsTimer: false }, { kind: 'none' }],
    [
      'no support, interval of a proxy',
      { supportsTimer: false, expiresS: 600 },
      { kind: 'timer', expiresS: 600, refresher: 'uas' },
    ],
    [
      'no support, too small an interval is raised',
      { supportsTimer: false, expiresS: 30 },
      { kind: 'timer', expiresS: 90, refresher: 'uas' },
    ],
    ['support without interval: we ask and refresh', {}, { kind: 'timer', expiresS: 1800, refresher: 'uas' }],
    [
      'support, no refresher named: the caller refreshes',
      { expiresS: 600 },
      { kind: 'timer', expiresS: 600, refresher: 'uac' },
    ],
    [
      'refresher uac stays',
      { expiresS: 600, refresher: 'uac' },
      { kind: 'timer', expiresS: 600, refresher: 'uac' },
    ],
    [
      'refresher uas stays',
      { expiresS: 600, refresher: 'uas' },
      { kind: 'timer', expiresS: 600, refresher: 'uas' },
    ],
    ['a long interval is shortened', { expiresS: 7200 }, { kind: 'timer', expiresS: 1800, refresher: 'uac' }],
    [
      'but not below the Min-SE of the request',
      { expiresS: 7200, minS: 3600 },
      { kind: 'timer', expiresS: 3600, refresher: 'uac' },
    ],
    [
      'and is never longer than a day',
      { expiresS: 3600, minS: 86_400 },
      { kind: 'timer', expiresS: 86_400, refresher: 'uac' },
    ],
    ['too small: 422', { expiresS: 60 }, { kind: 'too_small', minS: 90 }],
  ])('%s', (_name, values, expected) => {
    expect(answerSession(wish(values), settings)).toEqual(expected);
  });

  it('requires the extension of a caller that must refresh', () => {
    expect(sessionHeaders({ kind: 'timer', expiresS: 600, refresher: 'uac' })).toEqual({
      'Session-Expires': '600;refresher=uac',
      Require: 'timer',
    });
    expect(sessionHeaders({ kind: 'timer', expiresS: 600, refresher: 'uas' })).toEqual({
      'Session-Expires': '600;refresher=uas',
    });
    expect(sessionHeaders({ kind: 'none' })).toEqual({});
  });
});

describe('the result of the answer to our request', () => {
  it.each([
    ['as agreed', { expiresS: 600, refresher: 'uas' as const }, 1800, { expiresS: 600, weRefresh: false }],
    ['no refresher named: we refresh', { expiresS: 600 }, 1800, { expiresS: 600, weRefresh: true }],
    ['no interval: the requested one', {}, 1800, { expiresS: 1800, weRefresh: true }],
    ['no interval to the first INVITE: none', {}, null, null],
    ['never shorter than 90 s', { expiresS: 0 }, 1800, { expiresS: 90, weRefresh: true }],
  ])('%s', (_name, values, askedS, expected) => {
    expect(runOfAnswer(wish(values), askedS)).toEqual(expected);
  });
});

describe('the session clock', () => {
  const setup = () => {
    const clock = new FakeClock();
    const events: string[] = [];
    const timer = new SessionTimer(
      clock,
      () => events.push('refresh'),
      () => events.push('expired'),
      () => 0.5,
    );
    return { clock, events, timer };
  };

  it('refreshes at half the interval and expires 32 s before its end', () => {
    const { clock, events, timer } = setup();
    timer.restart({ expiresS: 1800, weRefresh: true });
    clock.advance(899_999);
    expect(timer.leftMs).toBe(868_001);
    clock.jump(3_600_000);
    expect(timer.leftMs).toBe(868_001);
    expect(events).toEqual([]);
    clock.advance(1);
    expect(events).toEqual(['refresh']);
    clock.advance(867_999);
    expect(events).toEqual(['refresh']);
    clock.advance(1);
    expect(events).toEqual(['refresh', 'expired']);
    expect(clock.pending).toBe(0);
  });

  it('waits for the peer to refresh, and gives up a third of a short interval before its end', () => {
    const { clock, events, timer } = setup();
    timer.restart({ expiresS: 90, weRefresh: false });
    clock.advance(59_999);
    timer.restart({ expiresS: 90, weRefresh: false });
    clock.advance(59_999);
    expect(events).toEqual([]);
    clock.advance(1);
    expect(events).toEqual(['expired']);
  });

  it('leaves no timer running when it is stopped', () => {
    const { clock, timer } = setup();
    timer.restart({ expiresS: 1800, weRefresh: true });
    timer.stop();
    expect(clock.pending).toBe(0);
    expect(timer.run).toBeNull();
  });
});
