import { expect, it } from 'vitest';
import { byInput, explore } from '../../../test/kit/state-machines.ts';
import { engineLink } from './engine-link-state.ts';

it('takes each input as follows', () => {
  expect(byInput(engineLink)).toEqual({
    connect: [
      'idle > connecting: open',
      'connecting up closed: nothing',
      'waiting > connecting: cancel retry, open',
    ],
    close: [
      'idle > closed: nothing',
      'connecting up > closed: drop',
      'waiting > closed: cancel retry',
      'closed: nothing',
    ],
    connected: ['connecting > up: report up', 'closed: nothing'],
    lost: [
      'connecting > waiting: drop, retry later',
      'up > waiting: drop, retry later, report down',
      'closed: nothing',
    ],
    retry: ['waiting > connecting: open'],
  });
});

it('has at most one connection and one timer, drops every connection, and reports up and down in turn', () => {
  const [open, timer, up] = [1, 2, 4];
  const reached = explore(engineLink, 'idle', 0, (memory, { input, to, actions }) => {
    // The timer has fired.
    let now = input === 'retry' ? memory & ~timer : memory;
    const change = (bit: number, isSet: boolean) => {
      expect((now & bit) !== 0).toBe(!isSet);
      now ^= bit;
    };
    for (const action of actions) {
      if (action === 'open' || action === 'drop') change(open, action === 'open');
      else if (action === 'retry later' || action === 'cancel retry') change(timer, action === 'retry later');
      else change(up, action === 'report up');
    }
    if (to === 'closed') expect(now & (open | timer)).toBe(0);
    return now;
  });
  expect([...reached].sort()).toEqual(['closed', 'connecting', 'idle', 'up', 'waiting']);
});
