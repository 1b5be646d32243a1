import { describe, expect, it } from 'vitest';
import { type OutboundInput, type OutboundState, outboundMove } from './outbound-state.ts';

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
  ])('that is %s goes by %s to %s', (state, input, to, outputs) => {
    expect(outboundMove(state, input)).toEqual({ to, outputs });
  });

  it.each<[OutboundState, string[]]>([
    ['queued', ['finish']],
    ['dialling', ['finish', 'cancel']],
    ['ringing', ['finish', 'cancel']],
    ['answered', ['finish', 'bye']],
    ['up', ['finish', 'bye']],
    ['held', ['finish', 'bye']],
    ['ended', []],
  ])('that is %s is ended by %j', (state, outputs) => {
    expect(outboundMove(state, 'end')).toEqual({ to: 'ended', outputs });
  });

  it('can lose its peer in every state, and then sends it nothing', () => {
    for (const state of states) {
      expect(outboundMove(state, 'gone')).toEqual({
        to: 'ended',
        outputs: state === 'ended' ? [] : ['finish'],
      });
    }
  });

  it('fails over only before it rings', () => {
    expect(states.filter((state) => outboundMove(state, 'next'))).toEqual(['dialling']);
  });
});
