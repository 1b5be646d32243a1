/**
 * What follows the result that a node waited for: the answer to a webhook, the outcome of a transfer, or what a realtime
 * model hands back. Each is the next node, or the fact with which the conversation ends.
 */
import type { Account } from './account.ts';
import type { WebhookRequest, WebhookResult } from './conversation.ts';
import type { Exits } from './exits.ts';
import type { GraphNode } from './graph.ts';
import type { Learning } from './learning.ts';
import type { LogFact } from './log-facts.ts';
import type { Memory } from './memory.ts';
import type { Position } from './position.ts';
import { exitsOf } from './realtime-node.ts';
import type { RealtimeResult } from './realtime-order.ts';
import { transferOrder } from './transfer-node.ts';
import { responsePathway, responseVariables } from './webhook-node.ts';

type Next = GraphNode | LogFact | null;

interface Parts {
  readonly position: Position;
  readonly memory: Memory;
  readonly account: Account;
  readonly learning: Learning;
  readonly exits: Exits;
}

export class NodeResults {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * The node that the response selects, else along an edge for its outcome, else back to the node that a global node
   * interrupted.
   * @param request null when it is unknown, and then the call is not logged
   */
  ofWebhook(request: WebhookRequest | null, result: WebhookResult): Next {
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
    return (
      exits.after(outcome, { kind: 'webhook', ok }) ?? exits.back() ?? { kind: 'dead_end', after: 'webhook' }
    );
  }

  ofTransfer(ok: boolean, reason: string): Next {
    const { position, memory, account, exits } = this.#parts;
    const { target } = transferOrder(position.node, memory.variables);
    account.note({ kind: 'transfer_ended', ok, reason, target });
    return ok ? { kind: 'call_transferred' } : exits.fallBack({ kind: 'transfer_failed', reason });
  }

  ofRealtime({ outcome, turns, variables }: RealtimeResult): Next {
    const { position, memory, account, learning, exits } = this.#parts;
    memory.resume(turns);
    learning.learn(variables);
    if (outcome.kind === 'failed') {
      account.note({ kind: 'realtime_failed', reason: outcome.reason });
      return exits.fallBack({ kind: 'realtime_failed', reason: outcome.reason });
    }
    const option = outcome.kind === 'handed_back' ? exitsOf(position)[outcome.exit] : undefined;
    if (outcome.kind === 'ended' || !option) return { kind: 'agent_ended' };
    learning.learn(outcome.variables);
    return exits.go(option, { kind: 'handed_back' });
  }
}
