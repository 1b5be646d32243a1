/** Extracts variables from the person's answers. */
import type { Account } from './account.ts';
import type { GraphNode } from './graph.ts';
import type { Understanding, Variables } from './interfaces.ts';
import { valueOfKeys } from './key-values.ts';
import type { Memory } from './memory.ts';
import type { Position } from './position.ts';
import { asText } from './template.ts';

export class Learning {
  readonly #position: Position;
  readonly #memory: Memory;
  readonly #account: Account;
  readonly #understanding: Understanding;

  constructor(position: Position, memory: Memory, account: Account, understanding: Understanding) {
    this.#position = position;
    this.#memory = memory;
    this.#account = account;
    this.#understanding = understanding;
  }

  /** The current node in the form of {@link Position.asking}. */
  get asking(): GraphNode {
    return this.#position.asking(this.#memory.variables);
  }

  /** The state of the conversation as described to a model. */
  situation() {
    const { id, name, modelName } = this.#position.node;
    const { history, variables } = this.#memory;
    return { node: { id, name }, history: [...history], variables, model: modelName };
  }

  /** @returns whether the keys are a value of the first variable the node asks for */
  fromKeys(keys: string): boolean {
    const [wanted] = this.asking.extractVars;
    if (!wanted) return false;
    const value = valueOfKeys(keys, wanted.type);
    if (value === undefined) return false;
    this.learn({ [wanted.name]: value });
    return true;
  }

  /** Rejects when the model does. */
  async fromWords(text: string): Promise<void> {
    const wanted = this.asking.extractVars;
    if (wanted.length === 0) return;
    this.learn(await this.#understanding.extract({ ...this.situation(), text, wanted }));
  }

  learn(values: Variables): void {
    for (const [name, value] of Object.entries(values)) {
      const learned = this.#memory.learn(name, value);
      this.#account.note(
        learned
          ? { kind: 'variable_learned', name, value: asText(value) }
          : { kind: 'variable_built_in', name },
      );
    }
  }
}
