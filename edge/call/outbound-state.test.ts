import { describe, expect, it } from 'vitest';
import { accepts, step } from '#shared/state-machine.ts';
import { type OutboundInput, type OutboundState, outboundCall } from './outbound-state.ts';

const states: OutboundState[] = ['queued', 'dialling', 'ringing', 'answered', 'up', 'held', 'ended'];

describe('an outbound call', () => {
  it.each<[OutboundState, OutboundInput, OutboundState, string[]]>([
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

  it.each<[OutboundState, string[]]>([
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
    for (const state of states) {
      expect(step(outboundCall, state, 'gone')).toEqual({
        to: 'ended',
        actions: state === 'ended' ? [] : ['finish'],
      });
    }
  });

  it('fails over only before it rings', () => {
    expect(states.filter((state) => accepts(outboundCall, state, 'next'))).toEqual(['dialling']);
  });
});
