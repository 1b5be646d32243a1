/** Views of state tables for tests: every pair of state and input, and every path. */
import {
  accepts,
  type InputOf,
  type Machine,
  type Moves,
  type StateOf,
  step,
} from '#shared/state-machine.ts';

type AnyMoves = Moves<string, string, string>;

/**
 * The table the other way round, by input: what it does in which states. States with the same effect share a line,
 * such as `up held > ended: finish, bye`; without `>` the state stays. States in no line of an input reject it.
 */
export function byInput<M extends AnyMoves>({ moves }: Machine<M>): Record<string, string[]> {
  const states = Object.keys(moves);
  const inputs = [...new Set(states.flatMap((state) => Object.keys(moves[state] ?? {})))];
  const linesOf = (input: string): string[] => {
    const effects = new Map<string, string[]>();
    for (const state of states) {
      const move = moves[state]?.[input];
      if (!move) continue;
      const effect = `${move.to === state ? '' : ` > ${move.to}`}: ${move.actions.join(', ') || 'nothing'}`;
      effects.set(effect, [...(effects.get(effect) ?? []), state]);
    }
    return [...effects].map(([effect, from]) => `${from.join(' ')}${effect}`);
  };
  return Object.fromEntries(inputs.map((input) => [input, linesOf(input)]));
}

export interface Passed<M extends AnyMoves> {
  readonly from: StateOf<M>;
  readonly input: InputOf<M>;
  readonly to: StateOf<M>;
  readonly actions: readonly string[];
}

/**
 * Follows every legal input from `start` on, until nothing new comes up.
 * @param learn what a test remembers after a move; it throws when the move must not happen then. Paths with the same
 *   state and memory count as the same, so it must have few values.
 * @returns the states that were reached
 */
export function explore<M extends AnyMoves>(
  machine: Machine<M>,
  start: StateOf<M>,
  memory: number,
  learn: (memory: number, move: Passed<M>) => number,
): Set<StateOf<M>> {
  const inputs = [
    ...new Set(Object.values(machine.moves).flatMap((row) => Object.keys(row))),
  ] as InputOf<M>[];
  const seen = new Set<string>();
  const left: (readonly [StateOf<M>, number])[] = [[start, memory]];
  const reached = new Set<StateOf<M>>();
  for (let next = left.pop(); next; next = left.pop()) {
    const [from, before] = next;
    const key = JSON.stringify(next);
    if (seen.has(key)) continue;
    seen.add(key);
    reached.add(from);
    for (const input of inputs) {
      if (!accepts(machine, from, input)) continue;
      const { to, actions } = step(machine, from, input);
      left.push([to, learn(before, { from, input, to, actions })]);
    }
  }
  return reached;
}
