/** Records a conversation: the actions of the current step, and the account of all steps. */
import type {
  Action,
  ConversationEvent,
  LogLine,
  SpokenText,
  Visit,
  WebhookCall,
  WebhookRequest,
  WebhookResult,
} from './conversation.ts';
import type { ConversationOptions } from './conversation-options.ts';
import { likelyTexts } from './likely-texts.ts';
import { type LogFact, sentenceOf } from './log-facts.ts';
import type { Memory } from './memory.ts';
import type { Position } from './position.ts';
import { fillerOf } from './webhook-node.ts';

type WithoutNode<A> = A extends unknown ? Omit<A, 'nodeId' | 'nodeName'> : never;

export class Account {
  readonly visits: Visit[];
  readonly log: LogLine[];
  readonly webhookCalls: WebhookCall[];
  readonly #position: Position;
  readonly #memory: Memory;
  readonly #now: () => number;
  #actions: Action[] = [];
  #pressed: string | null = null;

  /**
   * @param now ms since the epoch
   * @param before what it begins with
   */
  constructor(
    position: Position,
    memory: Memory,
    now: () => number,
    before: ConversationOptions['account'] = { visits: [], log: [], webhookCalls: [] },
  ) {
    this.visits = [...before.visits];
    this.log = [...before.log];
    this.webhookCalls = [...before.webhookCalls];
    this.#position = position;
    this.#memory = memory;
    this.#now = now;
  }

  /** Starts a step. @returns its actions, to which the step adds */
  begin(event: ConversationEvent): readonly Action[] {
    this.#actions = [];
    if (event.type !== 'webhook' && event.type !== 'tool' && event.type !== 'transfer')
      this.#memory.beginTurn();
    if (event.type === 'keys') this.#pressed = event.keys;
    else if (event.type === 'heard' || event.type === 'silence') this.#pressed = null;
    return this.#actions;
  }

  /** The latest input, if that was keys. */
  get pressed(): string | null {
    return this.#pressed;
  }

  /** Whether the current step has said anything. */
  get hasSpoken(): boolean {
    return this.#actions.some(({ type }) => type === 'say');
  }

  act(action: WithoutNode<Action>): void {
    const { id, name } = this.#position.node;
    this.#actions.push({ ...action, nodeId: id, nodeName: name });
  }

  /** Adds words to history and actions; empty text is ignored. @param keysExpected whether they ask for keys */
  say(text: string, keysExpected: boolean): void {
    const words = text.trim();
    if (words === '') return;
    this.#memory.said(words);
    this.act({ type: 'say', ...this.#spoken(words), ...(keysExpected && { keysExpected }) });
  }

  /** Asks a webhook. */
  ask(request: WebhookRequest): void {
    const { text, afterMs } = fillerOf(this.#position.node, this.#memory.variables);
    const filler = text !== '' && { filler: { ...this.#spoken(text), afterMs } };
    const likely = likelyTexts(this.#position);
    this.act({ type: 'webhook', request, ...filler, ...(likely.length > 0 && { likely }) });
  }

  #spoken(text: string): SpokenText {
    const { node, graph } = this.#position;
    const { pronunciations } = graph;
    return {
      text,
      ...(pronunciations.length > 0 && { pronunciations }),
      ...(node.sayDigits && { sayDigits: true }),
    };
  }

  note(fact: LogFact): void {
    this.log.push({ at: this.#now(), nodeId: this.#position.node.id, fact, message: sentenceOf(fact) });
  }

  visited(): void {
    const { node, pathwayId } = this.#position;
    this.visits.push({ nodeId: node.id, nodeName: node.name, pathwayId, at: this.#now() });
    if (node.recording) this.act({ type: 'recording', step: node.recording });
  }

  called({ url, method, body }: WebhookRequest, { status }: WebhookResult): void {
    const nodeId = this.#position.node.id;
    this.webhookCalls.push({ nodeId, url, method, body, statusCode: status, at: this.#now() });
  }
}
