/** Leaving a node: along an edge, by the role of an edge, or back to the node that a global node interrupted. */
import type { Account } from './account.ts';
import type { GraphNode } from './graph.ts';
import type { Option } from './interfaces.ts';
import type { LogFact, Why } from './log-facts.ts';
import type { Position } from './position.ts';
import { type EdgeRole, firstOf } from './special-edges.ts';

const onSuccess: readonly EdgeRole[] = ['success', 'regular', 'default'];
const onFailure: readonly EdgeRole[] = ['failure', 'default', 'regular'];

export class Exits {
  readonly #position: Position;
  readonly #account: Account;

  constructor(position: Position, account: Account) {
    this.#position = position;
    this.#account = account;
  }

  /** The first option of a role. */
  by(role: EdgeRole): Option | undefined {
    const { options } = this.#position;
    return options[firstOf(options, role)];
  }

  /** Follows an option. */
  go(option: Option, why: Why): GraphNode | null {
    this.#account.note({ kind: 'option_taken', label: option.label, why, keys: this.#account.pressed });
    return this.#position.follow(option);
  }

  /** Continues without the person, along the first of the node's own edges for this outcome. */
  after(outcome: 'success' | 'failure', why: Why): GraphNode | null {
    const options = this.#position.options.filter((option) => !option.global);
    for (const role of outcome === 'success' ? onSuccess : onFailure) {
      const option = options[firstOf(options, role)];
      if (option) return this.go(option, why);
    }
    return null;
  }

  /** After a failure: the edge for it, else back; else the fact that the conversation ends with. */
  fallBack(why: Why): GraphNode | LogFact | null {
    const failure = this.by('failure');
    if (failure) return this.go(failure, why);
    return this.back() ?? { kind: 'no_fallback', why };
  }

  /** The node that a global node interrupted. */
  back(): GraphNode | null {
    const back = this.#position.wayBack();
    if (back) this.#account.note({ kind: 'node_resumed', node: back.name });
    return back;
  }
}
