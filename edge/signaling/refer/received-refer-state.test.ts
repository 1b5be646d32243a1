import { describe, expect, it } from 'vitest';
import { byInput, explore } from '../../../test/kit/state-machines.ts';
import { receivedRefer } from './received-refer-state.ts';

const count = (actions: readonly string[], ...wanted: string[]) =>
  actions.filter((one) => wanted.includes(one)).length;

describe('the states of a REFER from the peer', () => {
  it('take each input as follows', () => {
    expect(byInput(receivedRefer)).toEqual({
      accept: ['asked > accepting: send 202, queue', 'silent accepting open notifying ending over: nothing'],
      'accept silently': ['asked > silent: send 202', 'silent accepting open notifying ending over: nothing'],
      refuse: [
        'asked > over: send rejection, release',
        'silent accepting open notifying ending over: nothing',
      ],
      timeout: [
        'asked > over: send rejection, release',
        'silent > over: count outcome, release, report expiry',
        'accepting notifying > ending: count outcome, queue, report expiry',
        'open > ending: count outcome, queue, send, report expiry',
      ],
      'dialog over': [
        'asked > over: send rejection, release',
        'silent accepting open notifying ending > over: release',
        'over: nothing',
      ],
      progress: [
        'asked silent ending over: nothing',
        'accepting notifying: queue',
        'open > notifying: queue, send',
      ],
      outcome: [
        'asked ending over: nothing',
        'silent > over: count outcome, release',
        'accepting notifying > ending: count outcome, queue',
        'open > ending: count outcome, queue, send',
      ],
      flush: ['asked silent open over: nothing', 'accepting notifying ending: send all'],
      gone: ['silent accepting open notifying ending > over: release', 'over: nothing'],
      'no more': [
        'silent open over: nothing',
        'accepting notifying > open: nothing',
        'ending > over: release',
      ],
      next: ['accepting > notifying: send', 'notifying ending: send', 'over: nothing'],
    });
  });

  it('are all reached, and answer the REFER once before it is released', () => {
    const reached = explore(receivedRefer, 'asked', 0, (answers, { to, actions }) => {
      const now = answers + count(actions, 'send 202', 'send rejection');
      expect(now).toBeLessThanOrEqual(1);
      if (to === 'over') expect(now).toBe(1);
      return now;
    });
    expect([...reached].sort()).toEqual(Object.keys(receivedRefer.moves).sort());
  });

  it('release it once, and do nothing more', () => {
    explore(receivedRefer, 'asked', 0, (releases, { to, actions }) => {
      if (releases === 1) expect(actions).toEqual([]);
      const now = releases + count(actions, 'release');
      expect(now).toBe(to === 'over' ? 1 : 0);
      return now;
    });
  });

  it('count one outcome at most, and none of a rejected REFER', () => {
    explore(receivedRefer, 'asked', 0, (outcomes, { actions }) => {
      const now = outcomes + count(actions, 'count outcome', 'send rejection');
      expect(now).toBeLessThanOrEqual(1);
      return now;
    });
  });

  it('send one NOTIFY at a time, the first after the 202, unless our BYE follows', () => {
    explore(receivedRefer, 'asked', 0, (pending, { input, actions }) => {
      if (input === 'flush') return pending;
      const before = input === 'next' || input === 'no more' ? 0 : pending;
      if (before === 1) expect(actions).not.toContain('send');
      return count(actions, 'send 202', 'send') > 0 ? 1 : before;
    });
  });
});
