/**
 * State machines as data: which inputs are legal in a state, where they lead, and which actions to perform. A table
 * knows no socket, clock or message; the class that has the state performs the actions.
 */

export interface Move<State extends string, Action extends string> {
  readonly to: State;
  /** In this order. */
  readonly actions: readonly Action[];
}

/** The table: a row for every state, with the inputs that are legal there. */
export type Moves<State extends string, Input extends string, Action extends string> = {
  readonly [From in State]: { readonly [On in Input]?: Move<State, Action> };
};

type AnyMoves = Moves<string, string, string>;

export interface Machine<M extends AnyMoves> {
  /** What has these states, for error messages: `an INVITE client transaction`. */
  readonly name: string;
  readonly moves: M;
}

export type StateOf<M extends AnyMoves> = Extract<keyof M, string>;
export type InputOf<M extends AnyMoves> = Extract<{ [From in keyof M]: keyof M[From] }[keyof M], string>;

/** The actions that an input can cause, over all states. */
export type Caused<M extends AnyMoves, On> = {
  [From in keyof M]: On extends keyof M[From]
    ? M[From][On] extends Move<string, infer Action>
      ? Action
      : never
    : never;
}[keyof M];

export type Performers<Action extends string> = { readonly [A in Action]: () => void };

/** Thrown for an input that is illegal in this state: a bug in the caller, never caused by the network. */
export class IllegalMove extends Error {
  override readonly name = 'IllegalMove';
}

/** @param moves as a literal that `satisfies Moves<State, Input, Action>` */
export function machine<const M extends AnyMoves>(name: string, moves: M): Machine<M> {
  return { name, moves };
}

/** Shorthand that keeps a move on one table line. */
export function to<const State extends string, const Actions extends readonly string[]>(
  state: State,
  ...actions: Actions
): Move<State, Actions[number]> {
  return { to: state, actions };
}

/** The inputs that change nothing in a state, because they come too late or too early: part of its table row. */
export function ignored<const State extends string, const Inputs extends readonly string[]>(
  state: State,
  ...inputs: Inputs
): { readonly [On in Inputs[number]]: Move<State, never> } {
  const none: Move<State, never> = { to: state, actions: [] };
  return Object.fromEntries(inputs.map((input) => [input, none])) as {
    readonly [On in Inputs[number]]: Move<State, never>;
  };
}

/** The move for `input` in `state`. @throws IllegalMove when the table has none */
export function step<M extends AnyMoves, On extends InputOf<M>>(
  { name, moves }: Machine<M>,
  state: StateOf<M>,
  input: On,
): Move<StateOf<M>, Caused<M, On>> {
  const move = moves[state]?.[input];
  if (!move) throw new IllegalMove(`illegal input "${input}" for ${name} in state ${state}`);
  return move as Move<StateOf<M>, Caused<M, On>>;
}

/** Whether `input` is legal in `state`. */
export function accepts<M extends AnyMoves>(
  { moves }: Machine<M>,
  state: StateOf<M>,
  input: InputOf<M>,
): boolean {
  return moves[state]?.[input] !== undefined;
}

/** The state of one thing, which changes by `take` alone. */
export class Stateful<M extends AnyMoves> {
  readonly #machine: Machine<M>;
  #state: StateOf<M>;

  constructor(machine: Machine<M>, state: StateOf<M>) {
    this.#machine = machine;
    this.#state = state;
  }

  get state(): StateOf<M> {
    return this.#state;
  }

  /** Whether the state is one of these. */
  is(...states: StateOf<M>[]): boolean {
    return states.includes(this.#state);
  }

  /**
   * Moves, then performs the actions. One that throws does not stop those after it (a bug in the call must not leave
   * the peer without its response); the error is thrown at the end.
   * @param perform what each action means that this input can cause
   * @throws IllegalMove before anything is done
   */
  take<On extends InputOf<M>>(input: On, perform: Performers<Caused<M, On>>): void {
    const { to, actions } = step(this.#machine, this.#state, input);
    this.#state = to;
    const errors: unknown[] = [];
    for (const action of actions) {
      try {
        perform[action]();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 1) throw new AggregateError(errors, `several actions failed after "${input}"`);
    if (errors.length === 1) throw errors[0];
  }
}
