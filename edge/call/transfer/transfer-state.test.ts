import { describe, expect, it } from 'vitest';
import { accepts, step } from '#shared/state-machine.ts';
import { type TransferInput, type TransferState, transfer } from './transfer-state.ts';

const states: readonly TransferState[] = ['calling', 'waiting', 'joining', 'referring'];

describe('the states of a transfer', () => {
  it.each<[TransferState, TransferInput, TransferState]>([
    ['begun', 'call', 'calling'],
    ['begun', 'refer', 'referring'],
    ['calling', 'bridge', 'joining'],
    ['calling', 'answer', 'waiting'],
    ['waiting', 'bridge', 'joining'],
    ['joining', 'joined', 'joined'],
    ['calling', 'refer', 'referring'],
    ['referring', 'handed', 'over'],
    ['calling', 'move', 'over'],
  ])('%s takes %s and is then %s', (from, input, to) => {
    expect(step(transfer, from, input).to).toBe(to);
  });

  it.each(states)(
    '%s returns the call when it fails, and releases the target when the call ends',
    (state) => {
      expect(step(transfer, state, 'failed')).toEqual({ to: 'over', actions: ['release', 'resume'] });
      expect(step(transfer, state, 'ended')).toEqual({ to: 'over', actions: ['release'] });
    },
  );

  it('ends the call when the target leaves after the bridge', () => {
    expect(step(transfer, 'joined', 'failed')).toEqual({ to: 'over', actions: ['endCall'] });
  });

  it('ignores every input when it is over', () => {
    const inputs: TransferInput[] = [
      'call',
      'bridge',
      'joined',
      'refer',
      'handed',
      'move',
      'failed',
      'ended',
    ];
    expect(inputs.filter((input) => accepts(transfer, 'over', input))).toEqual([]);
  });
});
