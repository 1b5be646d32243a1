/**
 * Numbers the turns of a call. Each agent counts its own from 0; a call may have several, one after the other, and an agent
 * may come from another call in the midst of its conversation.
 */
import { mostTurns } from '#shared/edge-protocol/measured.ts';
import type { MeasuredLimits } from './limits.ts';

export class TurnNumbers {
  readonly #limits: MeasuredLimits;
  /** What is added to the numbers of an agent. */
  readonly #offsets = new WeakMap<object, number>();
  /** The highest number so far. */
  #last = -1;
  /** Marks of the turns that may still get some. */
  readonly #marks = new Map<number, number>();

  constructor(limits: MeasuredLimits) {
    this.#limits = limits;
  }

  /** @returns the number in the call; null: nothing more is kept of this turn */
  take(agent: object, turn: number): number | null {
    const { mostMarks } = this.#limits;
    const offset = this.#offsets.get(agent) ?? this.#last + 1 - turn;
    this.#offsets.set(agent, offset);
    const number = Math.max(0, turn + offset);
    if (number >= mostTurns) return null;
    const marks = this.#marks.get(number) ?? 0;
    if (marks >= mostMarks) return null;
    this.#marks.set(number, marks + 1);
    this.#last = Math.max(this.#last, number);
    for (const old of this.#marks.keys()) if (old < number - 2) this.#marks.delete(old);
    return number;
  }
}
