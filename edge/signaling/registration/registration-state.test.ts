import { describe, expect, it } from 'vitest';
import { byInput, explore } from '../../../test/kit/state-machines.ts';
import { registration } from './registration-state.ts';

const count = (actions: readonly string[], ...wanted: string[]) =>
  actions.filter((one) => wanted.includes(one)).length;

describe('the states of a registration', () => {
  it('take each input as follows', () => {
    expect(byInput(registration)).toEqual({
      start: [
        'idle > resolving: begin',
        'waiting resolving registering re-resolving refreshing bound closing ending ended: nothing',
      ],
      'start later': [
        'idle > waiting: wait',
        'waiting resolving registering re-resolving refreshing bound closing ending ended: nothing',
      ],
      'try now': [
        'idle: keep order, forget rejection',
        'waiting > resolving: keep order, forget rejection, begin visibly',
        'resolving registering re-resolving refreshing: keep order, forget rejection, repeat on failure',
        'bound > re-resolving: keep order, forget rejection, refresh',
        'closing ending ended: settle',
      ],
      'record changed': [
        'idle: begin to retry often, forget rejection',
        'waiting: begin to retry often, try soon',
        'resolving registering: begin to retry often, forget rejection, repeat on failure',
        're-resolving refreshing bound closing ending ended: nothing',
      ],
      end: [
        'idle waiting resolving > ended: finish',
        'registering refreshing > closing: limit end',
        're-resolving bound > ending: limit end, unregister',
        'closing ending: nothing',
        'ended: confirm end',
      ],
      'engine lost': [
        'idle ended: nothing',
        'waiting resolving registering re-resolving refreshing bound > idle: report engine lost, settle',
        'closing ending > ended: finish',
      ],
      'pause over': ['waiting > resolving: begin'],
      'over budget': ['resolving > waiting: wait, report over budget, settle'],
      'budget pending': ['resolving > waiting: wait'],
      resolved: ['resolving > registering: send REGISTER', 're-resolving > refreshing: send REGISTER'],
      rejected: [
        'resolving registering re-resolving refreshing > waiting: count failure, plan retry, settle',
        'closing > ended: finish',
      ],
      repeat: [
        'resolving: count failure, begin visibly',
        'registering re-resolving refreshing > resolving: count failure, begin visibly',
        'closing > ended: finish',
      ],
      granted: [
        'registering refreshing > bound: learn binding, schedule refresh, settle',
        'closing > ending: learn binding, unregister',
      ],
      'refresh due': ['bound > re-resolving: refresh'],
      'check due': ['bound: send OPTIONS'],
      'flow works': ['bound: schedule check'],
      'flow lost': ['bound > resolving: begin visibly'],
      limit: ['closing ending > ended: finish'],
      unbound: ['ending > ended: finish'],
    });
  });

  it('are all reached', () => {
    const reached = explore(registration, 'idle', 0, (memory) => memory);
    expect([...reached].sort()).toEqual(Object.keys(registration.moves).sort());
  });

  it('have one REGISTER pending at most (RFC 3261 section 10.2)', () => {
    const answers = ['granted', 'rejected', 'repeat', 'unbound', 'limit', 'engine lost'];
    explore(registration, 'idle', 0, (pending, { input, actions }) => {
      const before = answers.includes(input) ? 0 : pending;
      const sent = count(actions, 'send REGISTER', 'unregister');
      expect(before + sent).toBeLessThanOrEqual(1);
      return before + sent;
    });
  });

  it('leave no binding behind: one that was granted is removed, replaced or lost with the engine', () => {
    explore(registration, 'idle', 0, (bound, { from, input, to, actions }) => {
      if (to === 'ended' && from !== 'ended' && bound === 1) {
        // The registrar does not answer, has rejected the refresh, or is unreachable.
        expect(['unbound', 'limit', 'engine lost', 'rejected', 'repeat']).toContain(input);
      }
      if (count(actions, 'learn binding') > 0) return 1;
      return ['engine lost', 'rejected', 'repeat', 'flow lost', 'unbound', 'limit'].includes(input)
        ? 0
        : bound;
    });
  });

  it('finish once, and then only confirm', () => {
    explore(registration, 'idle', 0, (finished, { to, actions }) => {
      if (finished === 1) expect(actions.filter((one) => !/^(?:settle|confirm end)$/.test(one))).toEqual([]);
      const now = finished + count(actions, 'finish');
      expect(now).toBe(to === 'ended' ? 1 : 0);
      return now;
    });
  });

  it('limit each end that waits for the registrar', () => {
    explore(registration, 'idle', 0, (limited, { to, actions }) => {
      const now = limited + count(actions, 'limit end');
      if (to === 'closing' || to === 'ending') expect(now).toBe(1);
      return now;
    });
  });

  it('leave nobody waiting who has asked for an attempt', () => {
    explore(registration, 'idle', 0, (asked, { to, actions }) => {
      const now = count(actions, 'keep order') > 0 ? 1 : asked;
      const left = count(actions, 'settle', 'finish') > 0 ? 0 : now;
      // Somebody may wait while an attempt is made or will be made.
      if (to === 'bound' || to === 'ended') expect(left).toBe(0);
      return left;
    });
  });
});
