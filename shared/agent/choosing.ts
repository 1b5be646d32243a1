/** Which option of a node the keys or words of the person choose. */
import type { Option, Understanding } from './interfaces.ts';
import { chooseByKeys } from './keys.ts';
import type { Learning } from './learning.ts';
import type { Why } from './log-facts.ts';
import { withoutKeys } from './node-options.ts';
import type { Position } from './position.ts';
import { firstOf } from './special-edges.ts';
import { fillTemplate } from './template.ts';

export type Choice =
  | { readonly kind: 'leave'; readonly option: Option; readonly why: Why }
  | { readonly kind: 'reply'; readonly text: string; readonly reason: string }
  /** No option is for these words, or for these keys. */
  | { readonly kind: 'no words' | 'no keys'; readonly why: Why };

export class Choosing {
  readonly #position: Position;
  readonly #learning: Learning;
  readonly #understanding: Understanding;

  constructor(position: Position, learning: Learning, understanding: Understanding) {
    this.#position = position;
    this.#learning = learning;
    this.#understanding = understanding;
  }

  /** @param fills whether the keys are an entry that fills a variable */
  async byKeys(keys: string, fills: boolean): Promise<Choice> {
    const { options } = this.#position;
    const named = chooseByKeys(keys, options);
    if (named) return { kind: 'leave', option: named, why: { kind: 'keys', keys } };
    const unnamed = withoutKeys(options);
    const [only] = unnamed;
    if (only && unnamed.length === 1)
      return { kind: 'leave', option: only, why: { kind: 'only_keyless_option' } };
    if (fills && unnamed.length > 1) return this.byWords(keys, unnamed);
    const otherwise = fills ? options[firstOf(options, 'default')] : undefined;
    if (otherwise) return { kind: 'leave', option: otherwise, why: { kind: 'entry_complete' } };
    return { kind: 'no keys', why: { kind: 'no_keys', keys } };
  }

  /** @param options those to choose from. Rejects when the model does. */
  async byWords(text: string, options: readonly Option[]): Promise<Choice> {
    const all = this.#position.options;
    const otherwise = firstOf(all, 'default') >= 0 || firstOf(all, 'invalid') >= 0;
    const { choice, reason, reply } = await this.#understanding.chooseEdge({
      ...this.#learning.situation(),
      text,
      options,
      otherwise,
    });
    const option = choice === null ? undefined : options[choice];
    if (option) return { kind: 'leave', option, why: { kind: 'chosen', reason } };
    if (reply !== undefined) return { kind: 'reply', text: reply, reason };
    return { kind: 'no words', why: { kind: 'no_option', words: text, reason } };
  }

  /** Why the node may not be left by an option; null: it may. */
  async obstacleTo(option: Option): Promise<Why | null> {
    const { condition, extractVars } = this.#learning.asking;
    if (condition === '' || option.global) return null;
    const situation = this.#learning.situation();
    const filled = fillTemplate(condition, situation.variables);
    const verdict = await this.#understanding.conditionHolds({
      ...situation,
      condition: filled,
      template: condition,
      wanted: extractVars,
    });
    return verdict.holds ? null : { kind: 'condition', condition: filled, reason: verdict.reason };
  }
}
