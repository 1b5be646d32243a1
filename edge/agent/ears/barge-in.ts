/**
 * A caller who speaks while the agent speaks: the agent's sound is held at once, and goes on when that was no
 * interruption. States and moves only; `interruption.ts` has the sound and the timers.
 *
 *                  voice                        words, long voice, key
 *     [ open ] -----------> [ held ] ---------------------------------------> [ open ], speech is cut
 *      ^  |                  ^   | pause
 *      |  |            voice |   v
 *      |  |                 [ held, doubtful ] --nothing confirms it--> [ open ], speech goes on
 *      |  |
 *      |  +--voice, too often falsely--> [ lowered ] <--> [ lowered, doubtful ]: the same, but the speech is only softer
 *      +-----------------------------------------+
 *
 *                  sound with which a word may begin               voice
 *     [ open ] -----------------------------------> [ expecting ] -------> [ held ]
 *         ^                                              |
 *         +-----------no voice follows: speech goes on---+
 */
import { ignored, type Moves, machine, to } from '#shared/state-machine.ts';

type State = 'open' | 'expecting' | 'held' | 'held_doubtful' | 'lowered' | 'lowered_doubtful';
type Input =
  /** A sound with which a word may begin. */
  | 'sound'
  /** A voice begins while the agent's speech sounds. */
  | 'voice'
  /** The same, after recent ones that were no interruptions. */
  | 'voice_again'
  /** The voice has lasted as long as an interruption. */
  | 'long_voice'
  /** The caller said a word that is more than "mhm". */
  | 'word'
  | 'key'
  /** The voice has paused. */
  | 'pause'
  /** Nothing has confirmed the interruption in time, or no voice has followed the sound. */
  | 'doubt_over'
  /** The agent's speech is over. */
  | 'played';
type Action =
  | 'hold'
  | 'resume'
  /** The same, after a sound that was no voice. */
  | 'go_on'
  | 'lower'
  | 'raise'
  | 'cut'
  | 'await_voice'
  | 'await_words'
  | 'stop_awaiting';

export const bargeIn = machine('a barge-in', {
  open: {
    sound: to('expecting', 'hold', 'await_voice'),
    voice: to('held', 'hold'),
    voice_again: to('lowered', 'lower'),
    long_voice: to('open', 'cut'),
    word: to('open', 'cut'),
    key: to('open', 'cut'),
    ...ignored('open', 'pause', 'played'),
  },
  expecting: {
    voice: to('held', 'stop_awaiting'),
    voice_again: to('held', 'stop_awaiting'),
    long_voice: to('open', 'stop_awaiting', 'cut'),
    word: to('open', 'stop_awaiting', 'cut'),
    key: to('open', 'stop_awaiting', 'cut'),
    doubt_over: to('open', 'go_on'),
    ...ignored('expecting', 'sound', 'pause'),
    played: to('open', 'stop_awaiting', 'go_on'),
  },
  held: {
    long_voice: to('open', 'cut'),
    word: to('open', 'cut'),
    key: to('open', 'cut'),
    pause: to('held_doubtful', 'await_words'),
    ...ignored('held', 'sound', 'voice', 'voice_again'),
    played: to('open', 'resume'),
  },
  held_doubtful: {
    voice: to('held', 'stop_awaiting'),
    voice_again: to('held', 'stop_awaiting'),
    word: to('open', 'stop_awaiting', 'cut'),
    key: to('open', 'stop_awaiting', 'cut'),
    doubt_over: to('open', 'resume'),
    ...ignored('held_doubtful', 'sound', 'long_voice', 'pause'),
    played: to('open', 'stop_awaiting', 'resume'),
  },
  lowered: {
    long_voice: to('open', 'raise', 'cut'),
    word: to('open', 'raise', 'cut'),
    key: to('open', 'raise', 'cut'),
    pause: to('lowered_doubtful', 'await_words'),
    played: to('open', 'raise'),
    ...ignored('lowered', 'sound', 'voice', 'voice_again'),
  },
  lowered_doubtful: {
    voice: to('lowered', 'stop_awaiting'),
    voice_again: to('lowered', 'stop_awaiting'),
    word: to('open', 'stop_awaiting', 'raise', 'cut'),
    key: to('open', 'stop_awaiting', 'raise', 'cut'),
    doubt_over: to('open', 'raise'),
    played: to('open', 'stop_awaiting', 'raise'),
    ...ignored('lowered_doubtful', 'sound', 'long_voice', 'pause'),
  },
} satisfies Moves<State, Input, Action>);
