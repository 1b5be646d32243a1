import { describe, expect, it } from 'vitest';
import { accepts, IllegalMove, type Move, step } from '#shared/state-machine.ts';
import { type CallAction, type CallInput, type CallState, inboundCall, outboundCall } from './call-state.ts';

/** Applies inputs from `offered` on and lists the actions. */
function run(...inputs: CallInput[]): { state: CallState; actions: string[] } {
  let state: CallState = 'offered';
  const actions: string[] = [];
  for (const input of inputs) {
    const move: Move<CallState, CallAction> = step(inboundCall, state, input);
    state = move.to;
    actions.push(...move.actions);
  }
  return { state, actions };
}

describe('the states of an inbound call', () => {
  it.each<[string, CallInput[], CallState, string[]]>([
    [
      'answers at once and hangs up after the ACK',
      ['admit', 'ready', 'sent', 'acknowledged', 'end'],
      'ended',
      ['prepare', 'answer', 'begin', 'start', 'finish', 'bye'],
    ],
    [
      'rings while the agent is slow to get ready',
      ['admit', 'ring', 'ready', 'sent', 'acknowledged', 'gone'],
      'ended',
      ['prepare', 'ring', 'answer', 'begin', 'start', 'finish'],
    ],
    [
      'sends no second final answer after CANCEL',
      ['admit', 'ring', 'gone'],
      'ended',
      ['prepare', 'ring', 'finish'],
    ],
    ['rejects a call whose preparation fails', ['admit', 'end'], 'ended', ['prepare', 'finish', 'reject']],
    ['rejects without preparation', ['end'], 'ended', ['finish', 'reject']],
    [
      'waits for the ACK before its BYE (RFC 3261 section 15)',
      ['admit', 'ready', 'sent', 'end', 'acknowledged'],
      'ended',
      ['prepare', 'answer', 'begin', 'finish', 'bye'],
    ],
    [
      'waits for the ACK also when the 200 was not yet on the wire',
      ['admit', 'ready', 'end', 'sent', 'acknowledged'],
      'ended',
      ['prepare', 'answer', 'finish', 'bye'],
    ],
    [
      'sends no BYE when the ACK never comes',
      ['admit', 'ready', 'sent', 'end', 'gone'],
      'ended',
      ['prepare', 'answer', 'begin', 'finish'],
    ],
    [
      'can be ended on hold',
      ['admit', 'ready', 'sent', 'acknowledged', 'hold', 'resume', 'hold', 'end'],
      'ended',
      ['prepare', 'answer', 'begin', 'start', 'finish', 'bye'],
    ],
    [
      'ends once when both sides hang up',
      ['admit', 'ready', 'sent', 'acknowledged', 'gone', 'end', 'gone'],
      'ended',
      ['prepare', 'answer', 'begin', 'start', 'finish'],
    ],
  ])('%s', (_name, inputs, state, actions) => {
    expect(run(...inputs)).toEqual({ state, actions });
  });

  it('finishes exactly once on every path', () => {
    const inputs: CallInput[] = [
      'admit',
      'ring',
      'ready',
      'sent',
      'acknowledged',
      'hold',
      'resume',
      'end',
      'gone',
    ];
    let paths = 0;
    const walk = (state: CallState, finishes: number, depth: number): void => {
      if (state === 'ended') {
        paths++;
        expect(finishes).toBe(1);
        return;
      }
      if (depth === 0) return;
      for (const input of inputs) {
        if (!accepts(inboundCall, state, input)) continue;
        const next = step(inboundCall, state, input);
        walk(next.to, finishes + next.actions.filter((action) => action === 'finish').length, depth - 1);
      }
    };
    walk('offered', 0, 9);
    expect(paths).toBeGreaterThan(100);
  });

  it.each<[CallState, CallInput]>([
    ['offered', 'ready'],
    ['ringing', 'acknowledged'],
    ['up', 'ready'],
    ['up', 'ring'],
    ['ended', 'ready'],
    ['ended', 'acknowledged'],
  ])('throws when a call that is %s gets "%s"', (state, input) => {
    expect(() => step(inboundCall, state, input)).toThrow(IllegalMove);
  });
});

const outboundStates: CallState[] = ['queued', 'dialling', 'ringing', 'answered', 'up', 'held', 'ended'];

describe('an outbound call', () => {
  it.each<[CallState, CallInput, CallState, string[]]>([
    ['queued', 'dial', 'dialling', ['attempt']],
    ['dialling', 'next', 'dialling', ['attempt']],
    ['dialling', 'ring', 'ringing', ['ring']],
    ['ringing', 'ring', 'ringing', []],
    ['dialling', 'answered', 'answered', ['begin']],
    ['ringing', 'answered', 'answered', ['begin']],
    ['answered', 'ready', 'up', ['start']],
    ['up', 'hold', 'held', []],
    ['held', 'resume', 'up', []],
  ])('that is %s goes by %s to %s', (state, input, to, actions) => {
    expect(step(outboundCall, state, input)).toEqual({ to, actions });
  });

  it.each<[CallState, string[]]>([
    ['queued', ['finish']],
    ['dialling', ['finish', 'cancel']],
    ['ringing', ['finish', 'cancel']],
    ['answered', ['finish', 'bye']],
    ['up', ['finish', 'bye']],
    ['held', ['finish', 'bye']],
    ['ended', []],
  ])('that is %s is ended by %j', (state, actions) => {
    expect(step(outboundCall, state, 'end')).toEqual({ to: 'ended', actions });
  });

  it('can lose its peer in every state, and then sends it nothing', () => {
    for (const state of outboundStates) {
      expect(step(outboundCall, state, 'gone')).toEqual({
        to: 'ended',
        actions: state === 'ended' ? [] : ['finish'],
      });
    }
  });

  it('fails over only before it rings', () => {
    expect(outboundStates.filter((state) => accepts(outboundCall, state, 'next'))).toEqual(['dialling']);
  });
});
