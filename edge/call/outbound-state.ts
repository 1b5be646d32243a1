/**
 * The states of an outbound call, as data. Pure: inputs in, outputs out; outbound-call.ts runs the outputs.
 *
 *                     next
 *                     +--+
 *                     |  v
 *     queued --dial--> dialling --ring--> ringing
 *        |                |                  |
 *        |                +-----answered-----+
 *        |                        v
 *        |                     answered              200 and ACK; the agent may not be ready yet
 *        |                        | ready
 *        |                        v      hold
 *        |                        up <----------> held
 *        |                        |     resume    |
 *        v                        v               v
 *      ended <--------------------+---------------+   from everywhere
 *
 * A ringing call does not fail over: somebody may be about to answer (contract 3.5). `end` is our decision to end the
 * call; `gone` means that the dialog is already over.
 */
import type { Move } from './call-state.ts';

export type OutboundState = 'queued' | 'dialling' | 'ringing' | 'answered' | 'up' | 'held' | 'ended';

export type OutboundInput =
  | 'dial'
  | 'next'
  | 'ring'
  | 'answered'
  | 'ready'
  | 'hold'
  | 'resume'
  | 'end'
  | 'gone';

/**
 * What the call has to do, in this order. `finish` closes the agent, stores the closed record and closes the media; it
 * comes before `cancel` and `bye`, so that the record is on disk before the peer learns that the call is over.
 */
export type OutboundOutput = 'attempt' | 'ring' | 'begin' | 'start' | 'finish' | 'cancel' | 'bye';

type OutboundMove = Move<OutboundState, OutboundOutput>;

const move = (to: OutboundState, ...outputs: OutboundOutput[]): OutboundMove => ({ to, outputs });

const moves: Record<OutboundState, Partial<Record<OutboundInput, OutboundMove>>> = {
  queued: {
    dial: move('dialling', 'attempt'),
    end: move('ended', 'finish'),
    gone: move('ended', 'finish'),
  },
  dialling: {
    next: move('dialling', 'attempt'),
    ring: move('ringing', 'ring'),
    answered: move('answered', 'begin'),
    end: move('ended', 'finish', 'cancel'),
    gone: move('ended', 'finish'),
  },
  ringing: {
    ring: move('ringing'),
    answered: move('answered', 'begin'),
    end: move('ended', 'finish', 'cancel'),
    gone: move('ended', 'finish'),
  },
  answered: {
    ready: move('up', 'start'),
    end: move('ended', 'finish', 'bye'),
    gone: move('ended', 'finish'),
  },
  up: {
    hold: move('held'),
    end: move('ended', 'finish', 'bye'),
    gone: move('ended', 'finish'),
  },
  held: {
    resume: move('up'),
    end: move('ended', 'finish', 'bye'),
    gone: move('ended', 'finish'),
  },
  // Both sides may end a call at the same moment; the first reason wins.
  ended: { end: move('ended'), gone: move('ended') },
};

/** The transition for `input` in `state`, undefined when there is none. */
export function outboundMove(state: OutboundState, input: OutboundInput): OutboundMove | undefined {
  return moves[state][input];
}
