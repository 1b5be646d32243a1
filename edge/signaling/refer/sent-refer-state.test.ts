import { describe, expect, it } from 'vitest';
import { byInput, explore } from '../../../test/kit/state-machines.ts';
import { sentRefer } from './sent-refer-state.ts';

const count = (actions: readonly string[], ...wanted: string[]) =>
  actions.filter((one) => wanted.includes(one)).length;

describe('the states of a REFER of ours', () => {
  it('take each input as follows', () => {
    expect(byInput(sentRefer)).toEqual({
      '2xx': ['sent > accepted: report accepted, wait', 'accepted settled over: nothing'],
      '2xx without subscription': [
        'sent > over: report accepted, report failure, release',
        'accepted > over: report failure, release',
        'settled > over: release',
        'over: nothing',
      ],
      rejected: ['sent accepted > over: report failure, release', 'settled > over: release', 'over: nothing'],
      progress: [
        'sent > accepted: report accepted, report progress, wait',
        'accepted: report progress, wait',
        'settled over: nothing',
      ],
      'last progress': [
        'sent > over: report accepted, report progress, report failure, release',
        'accepted > over: report progress, report failure, release',
        'settled > over: release',
        'over: nothing',
      ],
      outcome: [
        'sent > settled: report accepted, report outcome',
        'accepted > settled: report outcome',
        'settled over: nothing',
      ],
      'last outcome': [
        'sent > over: report accepted, report outcome, release',
        'accepted > over: report outcome, release',
        'settled > over: release',
        'over: nothing',
      ],
      'dialog over': [
        'sent accepted > over: report failure, release',
        'settled > over: release',
        'over: nothing',
      ],
      timeout: ['accepted > over: report failure, release', 'settled > over: release'],
    });
  });

  it('are all reached', () => {
    const reached = explore(sentRefer, 'sent', 0, (memory) => memory);
    expect([...reached].sort()).toEqual(Object.keys(sentRefer.moves).sort());
  });

  it('tell the call about one outcome, and about nothing after it', () => {
    explore(sentRefer, 'sent', 0, (reported, { to, actions }) => {
      if (reported === 1) expect(actions.filter((action) => action.startsWith('report'))).toEqual([]);
      const now = reported + count(actions, 'report outcome', 'report failure');
      expect(now).toBe(to === 'settled' || to === 'over' ? 1 : 0);
      return now;
    });
  });

  it('report an acceptance once, before progress and outcome', () => {
    explore(sentRefer, 'sent', 0, (accepted, { actions }) => {
      const now = accepted + count(actions, 'report accepted');
      expect(now).toBeLessThanOrEqual(1);
      if (count(actions, 'report progress', 'report outcome') > 0) expect(now).toBe(1);
      return now;
    });
  });

  it('release it once', () => {
    explore(sentRefer, 'sent', 0, (releases, { to, actions }) => {
      const now = releases + count(actions, 'release');
      expect(now).toBe(to === 'over' ? 1 : 0);
      return now;
    });
  });
});
