/**
 * The states of an inbound call, as data; call.ts performs the actions.
 *
 *     offered --admit--> preparing --ring--> ringing
 *        |                   |                  |
 *        |                   +------ready-------+
 *        |                            v
 *        |                        answering            200 passed to the engine
 *        |                            | sent
 *        |                            v
 *        |                        answered             200 on the wire, ACK awaited
 *        |                            | acknowledged
 *        |                            v      hold
 *        |                           up <----------> held
 *        |                            |     resume    |
 *        v                            v               v
 *      ended <------------------------+---------------+
 *
 * `end` is our decision to end the call; `gone` means that the dialog is already over. From `answering` and `answered`,
 * `end` leads to `ending`: RFC 3261 section 15 forbids the callee's BYE before the ACK arrives.
 */
import { type Moves, machine, to } from '#shared/state-machine.ts';

export type CallState =
  | 'offered'
  | 'preparing'
  | 'ringing'
  | 'answering'
  | 'answered'
  | 'up'
  | 'held'
  | 'ending'
  | 'ended';

export type CallInput =
  | 'admit'
  | 'ring'
  | 'ready'
  | 'sent'
  | 'acknowledged'
  | 'hold'
  | 'resume'
  | 'end'
  | 'gone';

/**
 * What the call has to do, in this order. `finish` closes the agent, stores the closed record and closes the media; it
 * comes before `reject` and `bye`, so that the record is on disk before the peer learns that the call is over.
 */
export type CallAction = 'prepare' | 'ring' | 'answer' | 'begin' | 'start' | 'finish' | 'reject' | 'bye';

export const inboundCall = machine('an inbound call', {
  offered: {
    admit: to('preparing', 'prepare'),
    end: to('ended', 'finish', 'reject'),
    gone: to('ended', 'finish'),
  },
  preparing: {
    ring: to('ringing', 'ring'),
    ready: to('answering', 'answer'),
    end: to('ended', 'finish', 'reject'),
    gone: to('ended', 'finish'),
  },
  ringing: {
    ready: to('answering', 'answer'),
    end: to('ended', 'finish', 'reject'),
    gone: to('ended', 'finish'),
  },
  answering: {
    sent: to('answered', 'begin'),
    end: to('ending', 'finish'),
    gone: to('ended', 'finish'),
  },
  answered: {
    acknowledged: to('up', 'start'),
    end: to('ending', 'finish'),
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
  ending: {
    sent: to('ending'),
    acknowledged: to('ended', 'bye'),
    end: to('ending'),
    gone: to('ended'),
  },
  // Both sides may end a call at the same moment; the first reason wins.
  ended: { end: to('ended'), gone: to('ended') },
} satisfies Moves<CallState, CallInput, CallAction>);
