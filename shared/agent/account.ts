/** Records a conversation: the actions of the current step, and the account of all steps. */
import type { Action, LogLine, Visit, WebhookCall, WebhookRequest, WebhookResult } from './conversation.ts';
import type { Memory } from './memory.ts';
import type { Place } from './place.ts';

type WithoutNode<A> = A extends unknown ? Omit<A, 'nodeId' | 'nodeName'> : never;

export class Account {
  readonly visits: Visit[] = [];
  readonly log: LogLine[] = [];
  readonly webhookCalls: WebhookCall[] = [];
  readonly #place: Place;
  readonly #memory: Memory;
  readonly #now: () => number;
  #actions: Action[] = [];

  /** @param now ms since the epoch */
  constructor(place: Place, memory: Memory, now: () => number) {
    this.#place = place;
    this.#memory = memory;
    this.#now = now;
  }

  /** Starts a step. @returns its actions, to which the step adds */
  begin(): readonly Action[] {
    this.#actions = [];
    return this.#actions;
  }

  /** Whether the current step has said anything. */
  get hasSpoken(): boolean {
    return this.#actions.some(({ type }) => type === 'say');
  }

  act(action: WithoutNode<Action>): void {
    const { id, name } = this.#place.node;
    this.#actions.push({ ...action, nodeId: id, nodeName: name });
  }

  /** Adds words to history and actions; empty text is ignored. @param keysExpected whether they ask for keys */
  say(text: string, keysExpected: boolean): void {
    const words = text.trim();
    if (words === '') return;
    this.#memory.said(words);
    this.act({ type: 'say', text: words, ...(keysExpected && { keysExpected }) });
  }

  note(message: string): void {
    this.log.push({ at: this.#now(), nodeId: this.#place.node.id, message });
  }

  visited(): void {
    const { node, pathwayId } = this.#place;
    this.visits.push({ nodeId: node.id, nodeName: node.name, pathwayId, at: this.#now() });
  }

  called({ url, method, body }: WebhookRequest, { status }: WebhookResult): void {
    const nodeId = this.#place.node.id;
    this.webhookCalls.push({ nodeId, url, method, body, statusCode: status, at: this.#now() });
  }
}
