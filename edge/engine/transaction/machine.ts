/**
 * A state machine as data: which inputs are legal in a state, where they lead, and which actions to perform. The
 * machine knows no socket, clock or message; `ClientTransaction` and `ServerTransaction` perform the actions.
 */
export interface Move<State extends string, Action extends string> {
  readonly to: State;
  readonly actions: readonly Action[];
}

export type Machine<State extends string, Input extends string, Action extends string> = {
  readonly [From in State]: { readonly [On in Input]?: Move<State, Action> };
};

/** Thrown for an input that is illegal in this state: a bug in the caller, never caused by the network. */
export class IllegalMove extends Error {
  override readonly name = 'IllegalMove';
}

/** The only place where a transaction's state changes. @throws IllegalMove */
export function step<State extends string, Input extends string, Action extends string>(
  machine: Machine<State, Input, Action>,
  state: State,
  input: Input,
): Move<State, Action> {
  const move = machine[state][input];
  if (!move) throw new IllegalMove(`a transaction in state ${state} cannot take "${input}"`);
  return move;
}

/** Shorthand that keeps a transition on one table line. */
export function to<State extends string, Action extends string>(
  state: State,
  ...actions: Action[]
): Move<State, Action> {
  return { to: state, actions };
}
