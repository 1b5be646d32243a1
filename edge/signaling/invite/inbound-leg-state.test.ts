import { describe, expect, it } from 'vitest';
import { byInput, explore } from '../../../test/kit/state-machines.ts';
import { inboundLeg } from './inbound-leg-state.ts';

const count = (actions: readonly string[], ...wanted: string[]) =>
  actions.filter((one) => wanted.includes(one)).length;

describe('the states of an inbound leg', () => {
  it('take each input as follows', () => {
    expect(byInput(inboundLeg)).toEqual({
      ring: ['offered: send 180', 'answering answered up leaving over: nothing'],
      '180 sent': ['offered answering answered up leaving: learn dialog', 'over: nothing'],
      answer: ['offered > answering: send 200', 'answering answered up leaving over: nothing'],
      reject: ['offered > over: release, send rejection', 'answering answered up leaving over: nothing'],
      CANCEL: ['offered > over: release, report CANCEL', 'answering answered up leaving over: nothing'],
      BYE: [
        'offered > over: release, report canceled, answer 200, send 487',
        'answering answered up > over: release, report BYE, answer 200',
        'leaving over: answer 200',
      ],
      'engine BYE': [
        'offered answering answered up > over: release, report engine BYE',
        'leaving > over: release',
        'over: nothing',
      ],
      forgotten: [
        'offered answering leaving > over: release',
        'answered up > over: release, report forgotten',
        'over: nothing',
      ],
      abandoned: ['offered answering answered up leaving > over: release', 'over: nothing'],
      NOTIFY: [
        'offered answering: pass early request',
        'answered up: pass request',
        'leaving: pass NOTIFY',
        'over: answer 481',
      ],
      request: [
        'offered answering: pass early request',
        'answered up: pass request',
        'leaving over: answer 481',
      ],
      refer: ['offered answering leaving over: fail REFER', 'answered up: send REFER'],
      ask: ['offered answering leaving over: skip OPTIONS', 'answered up: send OPTIONS'],
      renegotiate: ['offered answering leaving over: nothing', 'answered up: renegotiate'],
      bye: ['offered answering leaving over: nothing', 'answered up > leaving: send BYE'],
      ACK: ['offered answering leaving over: nothing', 'answered > up: report ACK', 'up: pass ACK'],
      '200 sent': ['answering > answered: begin session, report answered', 'over: nothing'],
      '200 not sent': ['answering > over: release, report failed answer', 'over: nothing'],
      'BYE answered': ['leaving > over: release', 'over: nothing'],
    });
  });

  it('are all reached', () => {
    const reached = explore(inboundLeg, 'offered', 0, (memory) => memory);
    expect([...reached].sort()).toEqual(Object.keys(inboundLeg.moves).sort());
  });

  it('answer the INVITE once, unless the engine does or can no longer', () => {
    const byEngine = ['CANCEL', 'engine BYE', 'forgotten', 'abandoned'];
    explore(inboundLeg, 'offered', 0, (answers, { input, to, actions }) => {
      const now = answers + count(actions, 'send 200', 'send rejection', 'send 487');
      expect(now).toBeLessThanOrEqual(1);
      if (to === 'over' && now === 0) expect(byEngine).toContain(input);
      return to === 'over' ? 1 : now;
    });
  });

  it('tell the call about one end, and about nothing after it or after its own', () => {
    explore(inboundLeg, 'offered', 0, (ended, { input, actions }) => {
      const events = actions.filter((action) => action.startsWith('report'));
      if (ended === 1) expect(events).toEqual([]);
      const isEnd = events.some((event) => !['report answered', 'report ACK'].includes(event));
      return isEnd || (ended === 0 && actions.some((action) => /^send (?:BYE|rejection)$/.test(action)))
        ? 1
        : input === 'abandoned'
          ? 1
          : ended;
    });
  });

  it('send one BYE at most, and only between the 200 and the end', () => {
    explore(inboundLeg, 'offered', 0, (byes, { from, actions }) => {
      const now = byes + count(actions, 'send BYE');
      expect(now).toBeLessThanOrEqual(1);
      if (now > byes) expect(['answered', 'up']).toContain(from);
      return now;
    });
  });

  it('answer each request of the peer once, whenever it comes', () => {
    const answers = ['answer 200', 'answer 481', 'pass early request', 'pass request', 'pass NOTIFY'];
    explore(inboundLeg, 'offered', 0, (memory, { input, actions }) => {
      if (['BYE', 'NOTIFY', 'request'].includes(input)) expect(count(actions, ...answers)).toBe(1);
      return memory;
    });
  });

  it('release the leg when it is over, once', () => {
    explore(inboundLeg, 'offered', 0, (releases, { to, actions }) => {
      const now = releases + count(actions, 'release');
      expect(now).toBe(to === 'over' ? 1 : 0);
      return now;
    });
  });
});
