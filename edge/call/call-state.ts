/**
 * The states of a call, as data; call.ts and the call's set-up perform the actions.
 *
 *     inbound    offered --admit--> preparing --ring--> ringing
 *                                       |                  |
 *                                       +------ready-------+
 *                                                v
 *                                            answering        200 passed to the engine
 *                                                | sent
 *                                                v
 *                                            answered         200 on the wire, ACK awaited
 *                                                | acknowledged
 *                                                v      hold
 *     both                                       up <----------> held
 *                                                ^     resume
 *                                                | ready
 *                                            answered         200 and ACK; the agent may not be ready yet
 *                                                ^
 *                                       +-----answered-----+
 *                                       |                  |
 *     outbound   queued ---dial---> dialling --ring--> ringing
 *                                     ^  |
 *                                     +--+ next
 *
 * Every state leads to `ended`. `end` is our decision to end the call; `gone` means that the dialog is already over.
 * From `answering` and from `answered` of an inbound call, `end` leads to `ending`: RFC 3261 section 15 forbids the
 * callee's BYE before the ACK arrives. A ringing outbound call does not fail over: somebody may be about to answer
 * (contract 3.5).
 */
import { type Machine, type Moves, machine, to } from '#shared/state-machine.ts';

export type CallState =
  | 'offered'
  | 'preparing'
  | 'answering'
  | 'queued'
  | 'dialling'
  | 'ringing'
  | 'answered'
  | 'up'
  | 'held'
  | 'ending'
  | 'ended';

export type CallInput =
  | 'admit'
  | 'sent'
  | 'acknowledged'
  | 'dial'
  | 'next'
  | 'answered'
  | 'ring'
  | 'ready'
  | 'hold'
  | 'resume'
  | 'end'
  | 'gone';

/** What the set-up has to do. `start`: the peer has confirmed the session; media and agent start. */
export type SetupAction = 'prepare' | 'ring' | 'answer' | 'reject' | 'attempt' | 'cancel' | 'start';

/**
 * What the call has to do, in this order. `begin`: it is answered. `finish` closes the agent, stores the closed record
 * and closes the media; it comes before `reject`, `cancel` and `bye`, so that the record is on disk before the peer
 * learns that the call is over.
 */
export type CallAction = SetupAction | 'begin' | 'finish' | 'bye';

type CallMoves = Moves<CallState, CallInput, CallAction>;

/** The states of calls in one direction; those of the other have no moves. */
export type CallMachine = Machine<CallMoves>;

const gone = to('ended', 'finish');
const hangUp = to('ended', 'finish', 'bye');
const reject = to('ended', 'finish', 'reject');
const cancel = to('ended', 'finish', 'cancel');

/** What calls in both directions have in common. */
const connected = {
  up: { hold: to('held'), end: hangUp, gone },
  held: { resume: to('up'), end: hangUp, gone },
  // Both sides may end a call at the same moment; the first reason wins.
  ended: { end: to('ended'), gone: to('ended') },
} satisfies Partial<CallMoves>;

export const inboundCall: CallMachine = machine('an inbound call', {
  offered: { admit: to('preparing', 'prepare'), end: reject, gone },
  preparing: { ring: to('ringing', 'ring'), ready: to('answering', 'answer'), end: reject, gone },
  ringing: { ready: to('answering', 'answer'), end: reject, gone },
  answering: { sent: to('answered', 'begin'), end: to('ending', 'finish'), gone },
  answered: { acknowledged: to('up', 'start'), end: to('ending', 'finish'), gone },
  ending: { sent: to('ending'), acknowledged: to('ended', 'bye'), end: to('ending'), gone: to('ended') },
  ...connected,
  queued: {},
  dialling: {},
} satisfies CallMoves);

export const outboundCall: CallMachine = machine('an outbound call', {
  queued: { dial: to('dialling', 'attempt'), end: gone, gone },
  dialling: {
    next: to('dialling', 'attempt'),
    ring: to('ringing', 'ring'),
    answered: to('answered', 'begin'),
    end: cancel,
    gone,
  },
  ringing: { ring: to('ringing'), answered: to('answered', 'begin'), end: cancel, gone },
  answered: { ready: to('up', 'start'), end: hangUp, gone },
  ...connected,
  offered: {},
  preparing: {},
  answering: {},
  ending: {},
} satisfies CallMoves);
