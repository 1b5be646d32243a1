/**
 * Runs a pathway. It has no clock, socket or audio: events go in, actions come out, and the owner of the conversation
 * (a call, a chat, a test run) carries them out in order.
 *
 *               start
 *                 |
 *                 v
 *            [ arriving ] --say, press--> next node, unless the node waits
 *              |   |   |
 *       listen |   |   | webhook / tool / transfer
 *              v   |   v
 *     [ listening ]|[ waiting for its result ]
 *        |         |            |
 *        | heard, keys, silence | result
 *        +---------+------------+---> the chosen edge, the node again, or the end
 *                  v
 *               [ ended ]
 */
import { Account } from './account.ts';
import { type Choice, Choosing } from './choosing.ts';
import type {
  Action,
  ConversationEvent,
  LogLine,
  Visit,
  WebhookCall,
  WebhookRequest,
} from './conversation.ts';
import {
  type AfterTools,
  awaitedIn,
  type ConversationLimits,
  type ConversationOptions,
  type ConversationState,
  conversationLimits,
  UnknownStartNode,
} from './conversation-options.ts';
import { Exits } from './exits.ts';
import type { GraphNode } from './graph.ts';
import type { SaidText } from './heard-words.ts';
import type { Option, ToolResult, Turn, Variables } from './interfaces.ts';
import { chooseByKeys, fillsFromKeys, keysInSpeech } from './keys.ts';
import { Learning } from './learning.ts';
import { type LogFact, sentenceOf, type Why } from './log-facts.ts';
import { Memory } from './memory.ts';
import { NodeResults } from './node-results.ts';
import { Position } from './position.ts';
import { connectionOf, realtimeOrder } from './realtime-node.ts';
import { answersFreely, Speaking } from './speaking.ts';
import { roleOf } from './special-edges.ts';
import { asText, fillTemplate } from './template.ts';
import { pathwayOrder, transferOrder } from './transfer-node.ts';
import { webhookRequest } from './webhook-node.ts';

export class Conversation {
  readonly #limits: ConversationLimits;
  readonly #memory: Memory;
  readonly #position: Position;
  readonly #account: Account;
  readonly #learning: Learning;
  readonly #speaking: Speaking;
  readonly #exits: Exits;
  readonly #choosing: Choosing;
  readonly #results: NodeResults;
  #phase: ConversationState['phase'] = 'new';
  #repeats = 0;
  #request: WebhookRequest | null = null;
  #afterTools: AfterTools | null = null;
  #tail: Promise<unknown> = Promise.resolve();

  /** @throws UnknownStartNode, LostPosition */
  constructor(options: ConversationOptions) {
    this.#limits = { ...conversationLimits, ...options.limits };
    const { pathway, startNodeId, otherPathway } = options;
    const start = startNodeId === null ? pathway.graph.start : pathway.graph.nodes.get(startNodeId);
    if (!start) throw new UnknownStartNode(startNodeId ?? '');
    this.#memory = new Memory(options.variables, options.builtIns, options.history);
    this.#position = new Position(pathway, start, otherPathway);
    this.#account = new Account(this.#position, this.#memory, options.now, options.account);
    this.#learning = new Learning(this.#position, this.#memory, this.#account, options.understanding);
    const parts = {
      position: this.#position,
      memory: this.#memory,
      account: this.#account,
      learning: this.#learning,
    };
    const { understanding, firstSentence } = options;
    this.#speaking = new Speaking({ ...parts, understanding, limits: this.#limits }, firstSentence);
    this.#exits = new Exits(this.#position, this.#account);
    this.#choosing = new Choosing(this.#position, this.#learning, understanding);
    this.#results = new NodeResults({ ...parts, exits: this.#exits });
    if (options.state) this.#restore(options.state);
  }

  /** The state for storage. Not to be called during a step. */
  snapshot(): ConversationState {
    return {
      ...this.#position.snapshot(),
      phase: this.#phase,
      repeats: this.#repeats,
      firstSentence: this.#speaking.firstSentence,
      request: structuredClone(this.#request),
      memory: this.#memory.snapshot(),
      afterTools: this.#afterTools,
    };
  }

  #restore(state: ConversationState): void {
    this.#position.restore(state);
    this.#phase = state.phase;
    this.#repeats = state.repeats;
    this.#speaking.firstSentence = state.firstSentence;
    this.#request = structuredClone(state.request);
    this.#memory.restore(state.memory);
    this.#afterTools = state.afterTools ?? null;
  }

  get ended(): boolean {
    return this.#phase === 'ended';
  }

  get currentNode(): GraphNode {
    return this.#position.node;
  }

  get visits(): readonly Visit[] {
    return this.#account.visits;
  }

  get log(): readonly LogLine[] {
    return this.#account.log;
  }

  get webhookCalls(): readonly WebhookCall[] {
    return this.#account.webhookCalls;
  }

  get history(): readonly Turn[] {
    return this.#memory.history;
  }

  /** Variables extracted from the person's input and from webhooks. */
  get learned(): Variables {
    return this.#memory.learned;
  }

  /** All current variables for templates. */
  get variables(): Variables {
    return this.#memory.variables;
  }

  readonly heard = (said: readonly SaidText[]): void => this.#memory.cut(said);
  readonly instruct = (text: string): void => this.#memory.instruct(text);

  /**
   * Processes one event; concurrent events are queued. An event that the conversation does not wait for, or that comes
   * after its end, yields no action. Rejects when the model behind `understanding` does.
   */
  step(event: ConversationEvent): Promise<readonly Action[]> {
    const result = this.#tail.then(() => this.#step(event));
    this.#tail = result.catch(() => undefined);
    return result;
  }

  async #step(event: ConversationEvent): Promise<readonly Action[]> {
    const actions = this.#account.begin(event);
    const next = await this.#take(event);
    if (next) await this.#enter(next);
    return actions;
  }

  async #take(event: ConversationEvent): Promise<GraphNode | null> {
    if (this.#phase !== awaitedIn(event.type)) return null;
    switch (event.type) {
      case 'start':
        return this.#position.node;
      case 'webhook':
        return this.#lead(this.#results.ofWebhook(this.#request, event.result));
      case 'tool':
        return this.#afterTool(event.result);
      case 'realtime':
        return this.#lead(this.#results.ofRealtime(event.result));
      case 'transfer':
        return this.#lead(this.#results.ofTransfer(event.ok, event.reason));
      case 'silence':
        return this.#onSilence();
      case 'keys':
        return this.#onKeys(event.keys);
      case 'heard':
        return event.text.trim() === '' ? null : this.#onHeard(event.text.trim());
    }
  }

  async #enter(first: GraphNode): Promise<void> {
    let next: GraphNode | null = first;
    for (let moves = 0; next; moves++) {
      if (moves >= this.#limits.movesPerStep) return this.#end({ kind: 'graph_loop', moves });
      this.#position.enter(next);
      this.#repeats = 0;
      this.#account.visited();
      for (const tool_id of this.#position.unknownTools()) this.#note({ kind: 'tool_unknown', tool_id });
      next = await this.#useTools({ at: 'arrival' });
    }
  }

  /** Runs the node's tools whose inputs are known, one after another, before the node continues. */
  async #useTools(then: AfterTools): Promise<GraphNode | null> {
    const due = this.#position.takeTool(this.variables);
    if (!due) return this.#goOn(then);
    const { toolId, name, speech } = due.tool;
    this.#afterTools = then;
    this.#phase = 'tool';
    if (speech !== null) this.#speaking.say(fillTemplate(speech, this.variables));
    this.#account.act({ type: 'tool', toolId, name, inputs: due.inputs, variables: this.variables });
    return null;
  }

  #afterTool({ ok, error, variables }: ToolResult): Promise<GraphNode | null> | GraphNode | null {
    const then = this.#afterTools ?? { at: 'arrival' };
    this.#afterTools = null;
    this.#note(ok ? { kind: 'tool_succeeded' } : { kind: 'tool_failed', error });
    this.#learning.learn(variables);
    const failure = ok ? undefined : this.#exits.by('failure');
    return failure ? this.#exits.go(failure, { kind: 'tool_failed' }) : this.#useTools(then);
  }

  async #goOn(then: AfterTools): Promise<GraphNode | null> {
    switch (then.at) {
      case 'arrival':
        return this.#arrive(this.#position.node);
      case 'words':
        return this.#carryOut(
          await this.#choosing.byWords(
            then.text,
            this.#position.options.filter((option) => roleOf(option) === 'regular'),
          ),
        );
      case 'keys':
        return this.#carryOut(await this.#choosing.byKeys(then.keys, then.fills));
    }
  }

  /** Enters a node. Returns the next node, or null when the conversation waits. */
  async #arrive(node: GraphNode): Promise<GraphNode | null> {
    if (node.type === 'Realtime' && this.#limits.realtime) return this.#handOver(node);
    if (node.type !== 'Wait for Response') await this.#speaking.speak(node);
    switch (node.type) {
      case 'Default':
      case 'Knowledge Base':
      case 'Wait for Response':
        return this.#exits.back() ?? this.#listen();
      case 'Realtime':
        this.#note({ kind: 'realtime_simulated', connection: connectionOf(node) });
        return this.#exits.back() ?? this.#listen();
      case 'Press Button':
        this.#account.act({ type: 'press', digits: fillTemplate(asText(node.data.digits), this.variables) });
        return this.#exits.after('success', { kind: 'keys_sent' }) ?? this.#exits.back() ?? this.#listen();
      case 'Webhook':
        this.#request = webhookRequest(node, this.variables);
        this.#phase = 'webhook';
        this.#account.ask(this.#request);
        return null;
      case 'Transfer Call':
        this.#phase = 'transfer';
        this.#account.act({ type: 'transfer', ...transferOrder(node, this.variables) });
        return null;
      case 'Transfer Pathway':
        return this.#transferPathway(node);
      case 'End Call':
        this.#end({ kind: 'end_node_reached' });
        return null;
    }
  }

  #transferPathway(node: GraphNode): GraphNode | null {
    const { id, version } = pathwayOrder(node);
    const start = this.#position.enterPathway(id, version);
    if (start) return start;
    this.#note({ kind: 'pathway_unavailable', pathway_id: id, version });
    return this.#lead(this.#exits.fallBack({ kind: 'pathway_unavailable' }));
  }

  async #onKeys(keys: string): Promise<GraphNode | null> {
    this.#memory.heard(keys, `Pressed ${keys}`);
    const options = this.#position.options;
    const named = chooseByKeys(keys, options);
    const fills = fillsFromKeys(this.#learning.asking, options);
    if (!named && fills && !this.#learning.fromKeys(keys))
      return this.#unfit({ kind: 'invalid_entry', keys });
    if (named && !fills) this.#learning.fromKeys(keys);
    return this.#useTools({ at: 'keys', keys, fills });
  }

  async #onHeard(text: string): Promise<GraphNode | null> {
    this.#memory.heard(text, text);
    const options = this.#position.options;
    const keys = keysInSpeech(text);
    const named = keys === null ? null : chooseByKeys(keys, options);
    if (named) {
      if (keys !== null) this.#learning.fromKeys(keys);
      return this.#useTools({ at: 'keys', keys: keys ?? '', fills: false });
    }
    await this.#learning.fromWords(text);
    return this.#useTools({ at: 'words', text });
  }

  async #carryOut(choice: Choice): Promise<GraphNode | null> {
    switch (choice.kind) {
      case 'leave':
        return this.#leave(choice.option, choice.why);
      case 'reply':
        this.#note({ kind: 'replied', reason: choice.reason });
        this.#speaking.say(choice.text);
        return this.#listen();
      case 'no words':
        if (!answersFreely(this.#position.node)) return this.#unfit(choice.why);
        await this.#speaking.generate(this.#position.node);
        this.#speaking.breakSilence();
        return this.#listen();
      case 'no keys':
        return this.#unfit(choice.why);
    }
  }

  #onSilence(): Promise<GraphNode | null> | GraphNode | null {
    const noInput = this.#exits.by('no_input');
    if (noInput) return this.#exits.go(noInput, { kind: 'silence' });
    if (this.#position.options.length === 0) {
      this.#end({ kind: 'dead_end', after: 'silence' });
      return null;
    }
    return this.#repeat({ kind: 'silence' });
  }

  #unfit(why: Why): Promise<GraphNode | null> | GraphNode | null {
    const invalid = this.#exits.by('invalid');
    if (invalid) return this.#exits.go(invalid, why);
    const otherwise = this.#exits.by('default');
    if (otherwise) return this.#leave(otherwise, why);
    return this.#repeat(why);
  }

  /** Repeats the node's words up to the limit, or indefinitely when repeats do not end the conversation. */
  async #repeat(why: Why): Promise<GraphNode | null> {
    if (this.#repeats < this.#limits.repeats) {
      this.#repeats++;
      return this.#again(why);
    }
    const otherwise = this.#exits.by('default');
    if (otherwise) return this.#exits.go(otherwise, why);
    if (!this.#limits.endsAfterRepeats) return this.#again(why);
    this.#end({ kind: 'repeats_unanswered', why, repeats: this.#repeats });
    return null;
  }

  async #again(why: Why): Promise<null> {
    this.#note({ kind: 'node_repeated', node: this.#position.node.name, why });
    if (this.#position.node.type !== 'Wait for Response') await this.#speaking.speak(this.#position.node);
    this.#speaking.breakSilence();
    return this.#listen();
  }

  /** Follows an option if the node's condition holds. */
  async #leave(option: Option, why: Why): Promise<GraphNode | null> {
    const obstacle = await this.#choosing.obstacleTo(option);
    return obstacle === null ? this.#exits.go(option, why) : this.#repeat(obstacle);
  }

  /** A model that hears and speaks says the node's words. */
  #handOver({ data }: GraphNode): null {
    const parts = { position: this.#position, memory: this.#memory, learning: this.#learning };
    const order = realtimeOrder(parts, this.#speaking.takeFirst());
    this.#phase = 'realtime';
    this.#note({ kind: 'realtime_begun', connection: connectionOf({ data }) });
    this.#account.act({ type: 'realtime', order });
    return null;
  }

  #lead(next: GraphNode | LogFact | null): GraphNode | null {
    if (!next || !('kind' in next)) return next;
    this.#end(next);
    return null;
  }

  #listen(): null {
    this.#phase = 'listening';
    this.#speaking.listen();
    return null;
  }

  #end(fact: LogFact): void {
    this.#phase = 'ended';
    this.#note(fact);
    this.#account.act({ type: 'end', reason: sentenceOf(fact) });
  }

  #note(fact: LogFact): void {
    this.#account.note(fact);
  }
}
