/**
 * The states of an inbound call, as data. Pure: inputs in, outputs out; call.ts runs the outputs.
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
export type CallOutput = 'prepare' | 'ring' | 'answer' | 'begin' | 'start' | 'finish' | 'reject' | 'bye';

export interface Move<State, Output> {
  readonly to: State;
  readonly outputs: readonly Output[];
}

type CallMove = Move<CallState, CallOutput>;

const move = (to: CallState, ...outputs: CallOutput[]): CallMove => ({ to, outputs });

const moves: Record<CallState, Partial<Record<CallInput, CallMove>>> = {
  offered: {
    admit: move('preparing', 'prepare'),
    end: move('ended', 'finish', 'reject'),
    gone: move('ended', 'finish'),
  },
  preparing: {
    ring: move('ringing', 'ring'),
    ready: move('answering', 'answer'),
    end: move('ended', 'finish', 'reject'),
    gone: move('ended', 'finish'),
  },
  ringing: {
    ready: move('answering', 'answer'),
    end: move('ended', 'finish', 'reject'),
    gone: move('ended', 'finish'),
  },
  answering: {
    sent: move('answered', 'begin'),
    end: move('ending', 'finish'),
    gone: move('ended', 'finish'),
  },
  answered: {
    acknowledged: move('up', 'start'),
    end: move('ending', 'finish'),
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
  ending: {
    sent: move('ending'),
    acknowledged: move('ended', 'bye'),
    end: move('ending'),
    gone: move('ended'),
  },
  // Both sides may end a call at the same moment; the first reason wins.
  ended: { end: move('ended'), gone: move('ended') },
};

export class IllegalMove extends Error {
  override readonly name = 'IllegalMove';
}

/** The transition for `input` in `state`. @throws IllegalMove when the table has none: a bug of the caller */
export function step(state: CallState, input: CallInput): CallMove {
  const found = moves[state][input];
  if (!found) throw new IllegalMove(`A call that is ${state} cannot take "${input}"`);
  return found;
}

/** Whether `input` is legal in `state`. */
export function accepts(state: CallState, input: CallInput): boolean {
  return moves[state][input] !== undefined;
}
