/** What a person is asked for when it is its turn: it decides how long a pause ends the turn (`end-of-turn.ts`). */

/** `any`: to be judged by the words alone. */
export const expectations = ['any', 'choice', 'yes_no', 'digits'] as const;
export type Expectation = (typeof expectations)[number];

export interface TurnPlan {
  readonly expects: Expectation;
  /** Labels of the choices, and the keys that stand for them. */
  readonly choices: readonly string[];
  /** digits that are asked for; null: any number */
  readonly digits: number | null;
  /** ms of the author's choice; null: by the words */
  readonly pauseMs: number | null;
}

export const anyTurn: TurnPlan = { expects: 'any', choices: [], digits: null, pauseMs: null };

/** Longest and shortest pause that an author can set, ms. */
export const pauseRange = [200, 5000] as const;
