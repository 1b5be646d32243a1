import { describe, expect, it } from 'vitest';
import { accepts, step } from '#shared/state-machine.ts';
import { byInput } from '../../../test/kit/state-machines.ts';
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
    ['joined', 'part', 'parted'],
    ['parted', 'rejoin', 'rejoining'],
    ['rejoining', 'joined', 'joined'],
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
    expect(step(transfer, 'parted', 'left')).toEqual({ to: 'over', actions: ['endCall'] });
  });

  it('does nothing more when it is over', () => {
    const inputs: TransferInput[] = [
      'answer',
      'bridge',
      'refer',
      'handed',
      'move',
      'failed',
      'left',
      'ended',
    ];
    for (const input of inputs) expect(step(transfer, 'over', input)).toEqual({ to: 'over', actions: [] });
    expect(accepts(transfer, 'over', 'call')).toBe(false);
  });

  it('takes each input as follows', () => {
    expect(byInput(transfer)).toEqual({
      call: ['begun > calling: pause, call'],
      refer: ['begun > referring: pause, refer', 'calling > referring: refer', 'referring over: nothing'],
      failed: [
        'begun > over: nothing',
        'calling waiting joining referring > over: release, resume',
        'joined parted rejoining > over: endCall',
        'over: nothing',
      ],
      ended: [
        'begun > over: nothing',
        'calling waiting joining referring joined parted rejoining > over: release',
        'over: nothing',
      ],
      answer: ['calling > waiting: answer', 'waiting joining joined parted rejoining over: nothing'],
      bridge: ['calling waiting > joining: bridge', 'joining joined parted rejoining over: nothing'],
      part: ['joined > parted: part'],
      rejoin: ['parted > rejoining: bridge'],
      dissolved: ['parted > over: nothing'],
      dropped: ['joined parted > over: release'],
      move: ['calling > over: move', 'over: nothing'],
      left: [
        'calling waiting joining > over: release, resume',
        'referring over: nothing',
        'joined parted rejoining > over: endCall',
      ],
      joined: ['joining > joined: settle', 'rejoining > joined: nothing'],
      handed: ['referring > over: leave', 'over: nothing'],
    });
  });
});
