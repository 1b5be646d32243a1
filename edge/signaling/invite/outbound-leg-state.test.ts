import { describe, expect, it } from 'vitest';
import { byInput, explore } from '../../../test/kit/state-machines.ts';
import { outboundLeg } from './outbound-leg-state.ts';

const count = (actions: readonly string[], ...wanted: string[]) =>
  actions.filter((one) => wanted.includes(one)).length;

const unanswered = 'idle sending calling proceeding early changed withdrawn canceled';

describe('the states of an outbound leg', () => {
  it('take each input as follows', () => {
    expect(byInput(outboundLeg)).toEqual({
      refer: [`${unanswered} leaving over: fail REFER`, 'up: send REFER'],
      ask: [`${unanswered} leaving over: skip OPTIONS`, 'up: send OPTIONS'],
      bye: [`${unanswered} leaving over: nothing`, 'up > leaving: send BYE'],
      BYE: [
        `${unanswered}: answer 481`,
        'up > over: release, report BYE, answer 200',
        'leaving over: answer 200',
      ],
      NOTIFY: [
        'idle withdrawn canceled over: answer 481',
        'sending calling proceeding early changed: pass early request',
        'up: pass request',
        'leaving: pass NOTIFY',
      ],
      request: [
        'idle withdrawn canceled leaving over: answer 481',
        'sending calling proceeding early changed: pass early request',
        'up: pass request',
      ],
      'engine BYE': [
        `${unanswered} leaving > over: release`,
        'up > over: release, report engine BYE',
        'over: nothing',
      ],
      forgotten: [
        `${unanswered} leaving > over: release`,
        'up > over: release, report forgotten',
        'over: nothing',
      ],
      abandoned: [`${unanswered} up leaving > over: release`, 'over: nothing'],
      ACK: [`${unanswered} leaving over: nothing`, 'up: pass ACK'],
      renegotiate: [`${unanswered} leaving over: nothing`, 'up: renegotiate'],
      'session lost': [`${unanswered} leaving over: nothing`, 'up: report loss'],
      start: ['idle > sending: send INVITE', 'over: nothing'],
      cancel: [
        'idle > over: release',
        'sending > withdrawn: stop waiting, note reason',
        'calling > canceled: stop waiting, note reason, send CANCEL',
        'proceeding early changed > canceled: note reason, send CANCEL',
        'withdrawn canceled up leaving over: nothing',
      ],
      UPDATE: [
        'idle withdrawn canceled leaving over: answer 481',
        'sending calling proceeding: pass UPDATE',
        'early changed: pass UPDATE of fork',
        'up: pass request',
      ],
      accepted: [
        'sending > calling: learn INVITE',
        'withdrawn > canceled: learn INVITE, send CANCEL',
        'over: nothing',
      ],
      'not sent': ['sending > over: release, report not sent', 'withdrawn > over: release', 'over: nothing'],
      'no response': [
        'sending > withdrawn: note reason, report no response',
        'calling > canceled: note reason, send CANCEL, report no response',
      ],
      offered: ['sending calling proceeding changed up: nothing', 'early > changed: nothing'],
      provisional: [
        'calling > proceeding: stop waiting, report progress',
        'proceeding early changed: report progress',
        'canceled over: nothing',
      ],
      reliable: [
        'calling > proceeding: stop waiting, send PRACK, report progress',
        'proceeding early changed: send PRACK, report progress',
        'canceled: send PRACK',
        'over: nothing',
      ],
      'reliable answer': [
        'calling > early: stop waiting, send PRACK, learn early dialog, report progress',
        'proceeding > early: send PRACK, learn early dialog, report progress',
        'early changed: send PRACK, report progress',
        'canceled: send PRACK',
        'over: nothing',
      ],
      repeated: ['calling > proceeding: stop waiting', 'proceeding early changed canceled over: nothing'],
      '2xx': [
        'calling > up: stop waiting, send ACK, begin session, report answered',
        'proceeding early > up: send ACK, begin session, report answered',
        'changed > up: send ACK, begin session, report answered again',
        'canceled > leaving: send ACK, send BYE',
        'over: nothing',
      ],
      failure: [
        'calling > judging: stop waiting, judge failure',
        'proceeding early changed > judging: judge failure',
        'canceled > over: release',
        'over: nothing',
      ],
      again: ['judging > sending: send INVITE'],
      refused: ['judging > over: release, report refusal'],
      'BYE answered': ['leaving > over: release', 'over: nothing'],
    });
  });

  it('are all reached', () => {
    const reached = explore(outboundLeg, 'idle', 0, (memory) => memory);
    expect([...reached].sort()).toEqual(Object.keys(outboundLeg.moves).sort());
  });

  it('acknowledge every 2xx and every reliable response until the leg is over', () => {
    explore(outboundLeg, 'idle', 0, (memory, { from, input, actions }) => {
      if (from === 'over') return memory;
      if (input === '2xx') expect(actions).toContain('send ACK');
      if (input === 'reliable' || input === 'reliable answer') expect(actions).toContain('send PRACK');
      return memory;
    });
  });

  it('send one CANCEL for an INVITE, which the engine has by then, and none after its final response', () => {
    const open = 1;
    const canceled = 2;
    explore(outboundLeg, 'idle', 0, (memory, { input, actions }) => {
      const known = count(actions, 'learn INVITE') > 0 ? open : memory;
      if (count(actions, 'send CANCEL') === 0) return input === '2xx' || input === 'failure' ? 0 : known;
      expect(known).toBe(open);
      return canceled;
    });
  });

  it('end a dialog whose 2xx crossed the CANCEL with BYE, and send one BYE at most', () => {
    explore(outboundLeg, 'idle', 0, (byes, { from, input, actions }) => {
      const now = byes + count(actions, 'send BYE');
      expect(now).toBeLessThanOrEqual(1);
      if (from === 'canceled' && input === '2xx') expect(now).toBe(1);
      return now;
    });
  });

  it('wait for a first response from each INVITE on until it comes, or the leg gives up', () => {
    explore(outboundLeg, 'idle', 0, (waiting, { input, actions }) => {
      if (input === 'no response') expect(waiting).toBe(1);
      if (count(actions, 'send INVITE') > 0) expect(waiting).toBe(0);
      if (count(actions, 'send INVITE') > 0) return 1;
      return input === 'no response' || count(actions, 'stop waiting', 'release') > 0 ? 0 : waiting;
    });
  });

  it('tell the call about one end, and about nothing after it or after its own', () => {
    explore(outboundLeg, 'idle', 0, (ended, { input, actions }) => {
      const events = actions.filter((action) => action.startsWith('report'));
      if (ended === 1) expect(events).toEqual([]);
      const goesOn = ['report progress', 'report answered', 'report answered again', 'report loss'];
      const isEnd = events.some((event) => !goesOn.includes(event)) || count(actions, 'send BYE') > 0;
      return isEnd || (input === 'cancel' && actions.length > 0) || input === 'abandoned' ? 1 : ended;
    });
  });

  it('answer each request of the peer once, whenever it comes', () => {
    const answers = [
      'answer 200',
      'answer 481',
      'pass request',
      'pass NOTIFY',
      'pass UPDATE',
      'pass UPDATE of fork',
      'pass early request',
    ];
    explore(outboundLeg, 'idle', 0, (memory, { input, actions }) => {
      if (['BYE', 'NOTIFY', 'UPDATE', 'request'].includes(input)) expect(count(actions, ...answers)).toBe(1);
      return memory;
    });
  });

  it('release the leg when it is over, once', () => {
    explore(outboundLeg, 'idle', 0, (releases, { to, actions }) => {
      const now = releases + count(actions, 'release');
      expect(now).toBe(to === 'over' ? 1 : 0);
      return now;
    });
  });
});
