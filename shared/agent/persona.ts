/**
 * A free conversation with a persona or task. Like the pathway interpreter it has no clock, socket or audio: events go
 * in, actions come out. Speech is yielded sentence by sentence while it is generated.
 *
 *     start, heard, keys, silence --> [ turn ] --say ...--> listen
 *                                      |  ^ |
 *                         author's tool|  | |transfer --> [ transfer ] --failed--> turn
 *                                      +--+ |end      --> [ ended ]
 *                                           |pathway  --> [ pathway ]: the interpreter takes over
 */
import type { Action, ConversationEvent, LogLine, Talk, Visit, WebhookCall } from './conversation.ts';
import { type ConversationState, type LoadedPathway, LostPosition } from './conversation-options.ts';
import type { DialogueTool, ToolCall } from './dialogue.ts';
import type { SaidText } from './heard-words.ts';
import { withInstruction } from './instructions.ts';
import type { Turn, Variables } from './interfaces.ts';
import { Conversation } from './interpreter.ts';
import { type LogFact, sentenceOf } from './log-facts.ts';
import type { PersonaLimits, PersonaOptions } from './persona-options.ts';
import { anyInput, apology, personaLimits } from './persona-options.ts';
import { authoredText, silenceMark, systemPrompt } from './persona-prompt.ts';
import { latest, learn, newState, type PersonaState } from './persona-state.ts';
import { type Order, orderOf, type PathwayEntry, type PersonaTools, toolsOf } from './persona-tools.ts';
import { PersonaWords } from './persona-words.ts';
import { asText, fillTemplate } from './template.ts';
import { Utterance } from './utterance.ts';

export class PersonaConversation implements Talk {
  readonly #options: PersonaOptions;
  readonly #limits: PersonaLimits;
  readonly #state: PersonaState;
  readonly #given: PersonaTools;
  readonly #words: PersonaWords;
  #tail: Promise<unknown> = Promise.resolve();
  /** Set once the conversation continues in a pathway. */
  #pathway: Conversation | null = null;
  #entered: { readonly id: string; readonly version: number } | null = null;
  readonly #log: LogLine[];

  constructor(options: PersonaOptions) {
    this.#options = options;
    this.#log = [...(options.log ?? [])];
    this.#limits = { ...personaLimits, ...options.limits };
    this.#state = structuredClone(options.state) ?? newState();
    this.#words = new PersonaWords(this.#state);
    const { transfers, pathways, tools, channel, model } = options;
    this.#given = { transfers, pathways, tools: tools?.list() ?? [], onCall: channel === 'call' };
    if (this.#state.pathway) this.#takeUp(this.#state.pathway);
    if (this.#state.phase === 'new' && model.evaluator.provider === 'embedded') {
      this.#note({ kind: 'no_model' });
    }
  }

  get ended(): boolean {
    return this.#state.phase === 'ended' || this.#pathway?.ended === true;
  }

  get history(): readonly Turn[] {
    return this.#pathway?.history ?? this.#state.turns;
  }

  get learned(): Variables {
    return { ...this.#state.learned, ...this.#pathway?.learned };
  }

  get variables(): Variables {
    const { variables, builtIns } = this.#options;
    const { learned, input } = this.#state;
    return this.#pathway?.variables ?? { ...variables, ...learned, ...builtIns(), input };
  }

  get visits(): readonly Visit[] {
    return this.#pathway?.visits ?? [];
  }

  get log(): readonly LogLine[] {
    return this.#pathway ? [...this.#log, ...this.#pathway.log] : this.#log;
  }

  get webhookCalls(): readonly WebhookCall[] {
    return this.#pathway?.webhookCalls ?? [];
  }

  /** The state for storage. Not to be called during a step. */
  snapshot(): PersonaState {
    const state = this.#pathway?.snapshot();
    const pathway = this.#entered && state ? { ...this.#entered, state } : null;
    return structuredClone({ ...this.#state, pathway });
  }

  heard(said: readonly SaidText[]): void {
    if (this.#pathway) this.#pathway.heard(said);
    else this.#words.cut(said);
  }

  instruct(text: string): void {
    this.#state.instructions = withInstruction(this.#state.instructions ?? [], text);
    this.#pathway?.instruct(text);
  }

  async step(event: ConversationEvent): Promise<readonly Action[]> {
    const actions: Action[] = [];
    for await (const action of this.actions(event)) actions.push(action);
    return actions;
  }

  /** Concurrent events are queued. Throws what the model throws. */
  async *actions(event: ConversationEvent, interrupt?: AbortSignal): AsyncGenerator<Action> {
    const before = this.#tail;
    const done = Promise.withResolvers<void>();
    this.#tail = done.promise;
    await before;
    try {
      yield* this.#take(event, interrupt ?? new AbortController().signal);
    } finally {
      done.resolve();
    }
  }

  async *#take(event: ConversationEvent, interrupt: AbortSignal): AsyncGenerator<Action> {
    const state = this.#state;
    if (this.#pathway) {
      yield* await this.#pathway.step(event);
      return;
    }
    if (state.phase === 'new' && event.type === 'start') {
      yield* this.#start(interrupt);
    } else if (state.phase === 'transfer' && event.type === 'transfer') {
      yield* this.#afterTransfer(event.ok, event.reason, interrupt);
    } else if (state.phase === 'listening') {
      if (event.type === 'silence') yield* this.#onSilence(interrupt);
      else if (event.type === 'heard' && event.text.trim() !== '') {
        yield* this.#onInput(event.text.trim(), event.text.trim(), interrupt);
      } else if (event.type === 'keys') {
        yield* this.#onInput(event.keys, `Pressed ${event.keys}`, interrupt);
      }
    }
  }

  async *#start(interrupt: AbortSignal): AsyncGenerator<Action> {
    if (this.#options.waitsForGreeting) {
      yield this.#listen();
      return;
    }
    const first = fillTemplate(this.#options.firstSentence ?? '', this.variables).trim();
    if (first === '') {
      yield* this.#turn(interrupt);
      return;
    }
    this.#words.commit(first, first);
    yield this.#at({ type: 'say', text: first });
    yield this.#listen();
  }

  async *#onInput(said: string, text: string, interrupt: AbortSignal): AsyncGenerator<Action> {
    const state = this.#state;
    state.silences = 0;
    state.input = said;
    this.#words.begin();
    state.turns.push({ role: 'user', text });
    state.messages.push({ role: 'user', text });
    yield* this.#turn(interrupt);
  }

  async *#onSilence(interrupt: AbortSignal): AsyncGenerator<Action> {
    const state = this.#state;
    if (state.silences >= this.#limits.repeats) {
      yield* this.#end({ kind: 'questions_unanswered', questions: state.silences });
      return;
    }
    state.silences++;
    this.#words.begin();
    state.messages.push({ role: 'user', text: silenceMark });
    yield* this.#turn(interrupt);
  }

  async *#afterTransfer(ok: boolean, reason: string, interrupt: AbortSignal): AsyncGenerator<Action> {
    const { pendingCall } = this.#state;
    this.#note({ kind: 'transfer_ended', ok, reason, target: null });
    if (pendingCall) this.#answer(pendingCall, ok ? 'transferred' : `the transfer failed: ${reason}`);
    this.#state.pendingCall = null;
    if (ok) yield* this.#end({ kind: 'call_transferred' });
    else yield* this.#turn(interrupt);
  }

  // -------------------------------------------------------------- one agent turn

  /** Lets the model speak and use its tools until it is the person's turn again. */
  async *#turn(interrupt: AbortSignal): AsyncGenerator<Action> {
    this.#state.phase = 'listening';
    const tools = toolsOf(this.#given);
    for (let round = 0; round < this.#limits.rounds; round++) {
      const calls = yield* this.#speak(tools, interrupt);
      if (calls === null) break;
      const goesOn = yield* this.#carryOut(calls);
      if (goesOn === 'over') return;
      if (goesOn === 'listen' || interrupt.aborted) break;
      if (round + 1 === this.#limits.rounds) this.#note({ kind: 'tool_call_limit', rounds: round + 1 });
    }
    yield this.#listen();
  }

  /** Speaks the model's text. Returns its tool calls, or null when the turn is over. */
  async *#speak(
    tools: readonly DialogueTool[],
    interrupt: AbortSignal,
  ): AsyncGenerator<Action, ToolCall[] | null> {
    const { model, persona, temperature, seed, signal, channel, language } = this.#options;
    const keysPossible = this.#options.keysPossible?.() ?? true;
    const { instructions } = this.#state;
    const utterance = new Utterance();
    try {
      const parts = model.reply({
        system: systemPrompt(persona, this.variables, { channel, keysPossible }, language, instructions),
        authored: authoredText(persona, this.variables),
        messages: latest(this.#state.messages, this.#limits.contextChars),
        tools,
        temperature,
        signal: AbortSignal.any([signal, interrupt]),
        ...(seed !== undefined && { seed }),
      });
      for await (const text of utterance.sentences(parts, channel)) yield this.#at({ type: 'say', text });
    } catch (error) {
      // What the person has heard counts as said, although the answer was cut off.
      this.#words.commit(utterance.said, utterance.said);
      signal.throwIfAborted();
      if (interrupt.aborted) return null;
      yield* this.#excuse(error);
      return null;
    }
    const { written, said, calls } = utterance;
    this.#state.failures = 0;
    this.#words.commit(written, said, calls);
    return calls.length === 0 ? null : calls;
  }

  /** Apologizes for a failure. @throws error after too many in a row, or before anything was said */
  *#excuse(error: unknown): Generator<Action> {
    const state = this.#state;
    const why = error instanceof Error ? error.message : String(error);
    if (state.failures >= this.#limits.apologies || state.turns.length === 0) throw error;
    state.failures++;
    this.#note({ kind: 'model_failed', error: why });
    this.#words.commit(apology, apology);
    yield this.#at({ type: 'say', text: apology });
  }

  // -------------------------------------------------------------- tool calls

  /** `model`: it needs the results; `over`: the turn is over. */
  async *#carryOut(calls: readonly ToolCall[]): AsyncGenerator<Action, 'model' | 'listen' | 'over'> {
    let next: 'model' | 'listen' = 'listen';
    for (const [index, call] of calls.entries()) {
      const order = orderOf(call, this.#given);
      const rest = () => {
        for (const other of calls.slice(index + 1)) this.#answer(other, 'not carried out');
      };
      switch (order.kind) {
        case 'refused':
          this.#note({ kind: 'tool_call_rejected', reason: order.why });
          this.#answer(call, order.why);
          next = 'model';
          break;
        case 'press':
          if (this.#options.keysPossible?.() === false) {
            this.#answer(call, 'keys cannot be pressed on this call');
            next = 'model';
            break;
          }
          this.#answer(call, 'the keys are being sent');
          yield this.#at({ type: 'press', digits: order.digits });
          break;
        case 'tool':
          yield* this.#runTool(call, order);
          next = 'model';
          break;
        case 'end':
          this.#answer(call, 'ended');
          rest();
          yield* this.#end({ kind: 'agent_ended' });
          return 'over';
        case 'transfer':
          this.#state.pendingCall = { id: call.id, name: call.name };
          rest();
          yield* this.#transfer(order.name, order.target);
          return 'over';
        case 'pathway':
          if (yield* this.#enter(call, order.entry)) return 'over';
          next = 'model';
          break;
      }
    }
    return next;
  }

  async *#runTool(call: ToolCall, { tool, input }: Extract<Order, { kind: 'tool' }>): AsyncGenerator<Action> {
    const { tools, signal } = this.#options;
    const speech = fillTemplate(tool.speech ?? '', this.variables).trim();
    if (speech !== '') {
      this.#words.add(speech);
      yield this.#at({ type: 'say', text: speech });
    }
    if (!tools) throw new Error('tools are not available here');
    const result = await tools.run(tool.name, input, signal, this.variables);
    const names = learn(this.#state, result.variables);
    this.#note({ kind: 'persona_tool_ended', tool: tool.name, ok: result.ok, error: result.error });
    for (const name of Object.keys(result.variables)) {
      this.#note(
        names.includes(name)
          ? { kind: 'variable_learned', name, value: asText(this.#state.learned[name]) }
          : { kind: 'variable_built_in', name },
      );
    }
    const content = result.ok ? { result: result.data } : { error: result.error, result: result.data };
    this.#answer(call, JSON.stringify(content).slice(0, this.#limits.resultChars));
  }

  *#transfer(name: string, template: string): Generator<Action> {
    const target = fillTemplate(template, this.variables).trim();
    this.#note({ kind: 'transfer_started', name });
    this.#state.phase = 'transfer';
    yield this.#at({ type: 'transfer', target, method: 'bridge', announcement: null, acceptKey: null });
  }

  /** Continues in a pathway. Returns false when it is not available. */
  async *#enter(call: ToolCall, entry: PathwayEntry): AsyncGenerator<Action, boolean> {
    const pathway = this.#options.otherPathway(entry.pathwayId, entry.pathwayVersion);
    const known = entry.startNodeId === null || pathway?.graph.nodes.has(entry.startNodeId);
    if (!pathway || !known) {
      const wanted = { pathway_id: entry.pathwayId, version: entry.pathwayVersion };
      const unknown = { kind: 'start_node_unknown', ...wanted, node: entry.startNodeId ?? '' } as const;
      this.#note(pathway ? unknown : { kind: 'pathway_unavailable', ...wanted });
      this.#answer(call, 'this procedure is not available');
      return false;
    }
    this.#note({ kind: 'pathway_entered', name: entry.name });
    this.#answer(call, 'entered');
    this.#state.phase = 'pathway';
    this.#entered = { id: entry.pathwayId, version: entry.pathwayVersion };
    const entered = this.#conversationIn(pathway, entry.startNodeId);
    this.#pathway = entered;
    yield* await entered.step({ type: 'start' });
    return true;
  }

  #conversationIn(
    pathway: LoadedPathway,
    startNodeId: string | null,
    state?: ConversationState,
  ): Conversation {
    const { understanding, variables, builtIns, now, otherPathway, pathwayLimits } = this.#options;
    const { listenMs, repeats } = this.#limits;
    return new Conversation({
      pathway,
      understanding,
      variables: { ...variables, ...this.#state.learned },
      builtIns,
      now,
      startNodeId,
      firstSentence: null,
      otherPathway,
      history: this.#state.turns,
      limits: { listenMs, repeats, ...pathwayLimits },
      ...(state && { state }),
    });
  }

  /** @throws LostPosition when the pathway no longer exists */
  #takeUp({ id, version, state }: NonNullable<PersonaState['pathway']>): void {
    const pathway = this.#options.otherPathway(id, version);
    if (!pathway) throw new LostPosition(`pathway ${id} version ${version} no longer exists`);
    this.#entered = { id, version };
    this.#pathway = this.#conversationIn(pathway, null, state);
  }

  // -------------------------------------------------------------- helpers

  #answer({ id, name }: Pick<ToolCall, 'id' | 'name'>, result: string): void {
    this.#state.messages.push({ role: 'tool', callId: id, name, result });
  }

  #listen(): Action {
    this.#state.phase = 'listening';
    return this.#at({ type: 'listen', timeoutMs: this.#limits.listenMs, ...anyInput });
  }

  *#end(fact: LogFact): Generator<Action> {
    this.#state.phase = 'ended';
    this.#note(fact);
    yield this.#at({ type: 'end', reason: sentenceOf(fact) });
  }

  #at<A extends object>(action: A): A & { nodeId: string; nodeName: string } {
    return { ...action, nodeId: '', nodeName: '' };
  }

  #note(fact: LogFact): void {
    this.#log.push({ at: this.#options.now(), nodeId: null, fact, message: sentenceOf(fact) });
  }
}
