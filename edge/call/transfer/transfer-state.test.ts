import { describe, expect, it } from 'vitest';
import { type TransferInput, type TransferState, transferMove } from './transfer-state.ts';

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
    expect(transferMove(from, input)?.to).toBe(to);
  });

  it.each(states)(
    '%s returns the call when it fails, and releases the target when the call ends',
    (state) => {
      expect(transferMove(state, 'failed')).toEqual({ to: 'over', outputs: ['release', 'resume'] });
      expect(transferMove(state, 'ended')).toEqual({ to: 'over', outputs: ['release'] });
    },
  );

  it('ends the call when the target leaves after the bridge', () => {
    expect(transferMove('joined', 'failed')).toEqual({ to: 'over', outputs: ['endCall'] });
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
    expect(inputs.filter((input) => transferMove('over', input))).toEqual([]);
  });
});
