/** What follows the answer to a webhook: variables to learn, and the next node. */
import type { Account } from './account.ts';
import type { WebhookRequest, WebhookResult } from './conversation.ts';
import type { Exits } from './exits.ts';
import type { GraphNode } from './graph.ts';
import type { Learning } from './learning.ts';
import type { Memory } from './memory.ts';
import type { Position } from './position.ts';
import { responsePathway, responseVariables } from './webhook-node.ts';

interface Parts {
  readonly position: Position;
  readonly memory: Memory;
  readonly account: Account;
  readonly learning: Learning;
  readonly exits: Exits;
}

export class WebhookResults {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * The next node: the one that the response selects, else along an edge for its outcome, else back to the node that
   * a global node interrupted. Null when there is none.
   * @param request null when it is unknown, and then the call is not logged
   */
  after(request: WebhookRequest | null, result: WebhookResult): GraphNode | null {
    const { position, memory, account, learning, exits } = this.#parts;
    const { node } = position;
    if (request) account.called(request, result);
    const ok = result.error === null && result.status !== null && result.status >= 200 && result.status < 300;
    account.note({ kind: 'webhook_answered', ok, answer: result.error ?? String(result.status) });
    if (ok) learning.learn(responseVariables(node, result.body));
    const target = ok ? responsePathway(node, memory.variables, result.body) : null;
    const chosen = target === null ? undefined : position.graph.nodes.get(target);
    if (chosen) return chosen;
    const outcome = ok ? 'success' : 'failure';
    return exits.after(outcome, { kind: 'webhook', ok }) ?? exits.back();
  }
}
