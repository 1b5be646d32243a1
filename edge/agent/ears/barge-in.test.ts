import { expect, it } from 'vitest';
import { byInput, explore } from '../../../test/kit/state-machines.ts';
import { bargeIn } from './barge-in.ts';

it('holds the speech at a voice, cuts it when that is an interruption, and goes on when it is none', () => {
  expect(byInput(bargeIn)).toEqual({
    sound: [
      'open > expecting: hold, await_voice',
      'expecting held held_doubtful lowered lowered_doubtful: nothing',
    ],
    voice: [
      'open > held: hold',
      'expecting held_doubtful > held: stop_awaiting',
      'held lowered: nothing',
      'lowered_doubtful > lowered: stop_awaiting',
    ],
    voice_again: [
      'open > lowered: lower',
      'expecting held_doubtful > held: stop_awaiting',
      'held lowered: nothing',
      'lowered_doubtful > lowered: stop_awaiting',
    ],
    long_voice: [
      'open: cut',
      'expecting > open: stop_awaiting, cut',
      'held > open: cut',
      'held_doubtful lowered_doubtful: nothing',
      'lowered > open: raise, cut',
    ],
    word: [
      'open: cut',
      'expecting held_doubtful > open: stop_awaiting, cut',
      'held > open: cut',
      'lowered > open: raise, cut',
      'lowered_doubtful > open: stop_awaiting, raise, cut',
    ],
    key: [
      'open: cut',
      'expecting held_doubtful > open: stop_awaiting, cut',
      'held > open: cut',
      'lowered > open: raise, cut',
      'lowered_doubtful > open: stop_awaiting, raise, cut',
    ],
    pause: [
      'open expecting held_doubtful lowered_doubtful: nothing',
      'held > held_doubtful: await_words',
      'lowered > lowered_doubtful: await_words',
    ],
    played: [
      'open: nothing',
      'expecting > open: stop_awaiting, go_on',
      'held > open: resume',
      'held_doubtful > open: stop_awaiting, resume',
      'lowered > open: raise',
      'lowered_doubtful > open: stop_awaiting, raise',
    ],
    doubt_over: ['expecting > open: go_on', 'held_doubtful > open: resume', 'lowered_doubtful > open: raise'],
  });
});

it('never leaves the speech held or softer, and never awaits two things at once', () => {
  const held = 1;
  const soft = 2;
  const awaiting = 4;
  const reached = explore(bargeIn, 'open', 0, (memory, { to, input, actions }) => {
    let now = memory;
    // The time for words or a voice is over by itself.
    if (input === 'doubt_over') now &= ~awaiting;
    for (const action of actions) {
      if (action === 'hold') now |= held;
      if (action === 'resume' || action === 'go_on' || action === 'cut') now &= ~held;
      if (action === 'lower') now |= soft;
      if (action === 'raise') now &= ~soft;
      if (action === 'await_words' || action === 'await_voice') {
        if (now & awaiting) throw new Error(`${action} while something is awaited`);
        now |= awaiting;
      }
      if (action === 'stop_awaiting') now &= ~awaiting;
    }
    if (to === 'open' && now !== 0) throw new Error(`open with ${now} after ${input}`);
    return now;
  });
  expect([...reached].sort()).toEqual([
    'expecting',
    'held',
    'held_doubtful',
    'lowered',
    'lowered_doubtful',
    'open',
  ]);
});
