/**
 * The states of an outbound call, as data; outbound-call.ts performs the actions.
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
import { type Moves, machine, to } from '#shared/state-machine.ts';

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
export type OutboundAction = 'attempt' | 'ring' | 'begin' | 'start' | 'finish' | 'cancel' | 'bye';

export const outboundCall = machine('an outbound call', {
  queued: {
    dial: to('dialling', 'attempt'),
    end: to('ended', 'finish'),
    gone: to('ended', 'finish'),
  },
  dialling: {
    next: to('dialling', 'attempt'),
    ring: to('ringing', 'ring'),
    answered: to('answered', 'begin'),
    end: to('ended', 'finish', 'cancel'),
    gone: to('ended', 'finish'),
  },
  ringing: {
    ring: to('ringing'),
    answered: to('answered', 'begin'),
    end: to('ended', 'finish', 'cancel'),
    gone: to('ended', 'finish'),
  },
  answered: {
    ready: to('up', 'start'),
    end: to('ended', 'finish', 'bye'),
    gone: to('ended', 'finish'),
  },
  up: {
    hold: to('held'),
    end: to('ended', 'finish', 'bye'),
    gone: to('ended', 'finish'),
  },
  held: {
    resume: to('up'),
    end: to('ended', 'finish', 'bye'),
    gone: to('ended', 'finish'),
  },
  // Both sides may end a call at the same moment; the first reason wins.
  ended: { end: to('ended'), gone: to('ended') },
} satisfies Moves<OutboundState, OutboundInput, OutboundAction>);
