/**
 * Holds a pathway conversation on a call: speaks its texts, hears keys and words, and carries out what the
 * interpreter of shared/agent decides, in order.
 *
 *     dtmf, write --> [ listening ] --event--> interpreter --actions--> say ... listen | webhook | end
 *                                                                        |
 *     read <------------------------- play queue <-----------------------+
 */
import { builtInVariables } from '#shared/agent/built-in-variables.ts';
import type { Action, ConversationEvent } from '#shared/agent/conversation.ts';
import type { LoadedPathway } from '#shared/agent/conversation-options.ts';
import type { Understanding } from '#shared/agent/interfaces.ts';
import { Conversation } from '#shared/agent/interpreter.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import type { AgentSettings, TranscriptEntry } from '#shared/edge-protocol.ts';
import type { NewId } from '#shared/ids.ts';
import type { SpeechToText, TextToSpeech } from '#shared/models/speech.ts';
import type { Log } from '../call/log.ts';
import type { AgentHost, AgentLeg, CallFacts, DtmfEvent } from '../call/ports.ts';
import { Ear } from './ear.ts';
import { Listening } from './listening.ts';
import { PlayQueue } from './play-queue.ts';
import { transferTo } from './transfer-to.ts';
import type { WebhookClient } from './webhook-client.ts';

export type PathwaySettings = Extract<AgentSettings, { kind: 'pathway' }>;

export interface PathwayLimits {
  /** ms without input after the last word until the pathway is told of silence */
  readonly listenMs: number;
  /** times that a node repeats itself before the call is ended */
  readonly repeats: number;
  /** ms within which the other side must begin to speak when the agent lets it speak first */
  readonly greetingMs: number;
  /** ms between the last word and the end of the call: what the peer's jitter buffer still holds */
  readonly tailMs: number;
  /** seconds of speech that may wait to be played */
  readonly maxQueuedSeconds: number;
  /** Hz of the agent's audio */
  readonly sampleRate: 8000 | 16000;
}

export const pathwayLimits: PathwayLimits = {
  listenMs: 10_000,
  repeats: 2,
  greetingMs: 5000,
  tailMs: 200,
  maxQueuedSeconds: 600,
  sampleRate: 8000,
};

export interface PathwayAgentDeps {
  /** A pathway of the call's organization, loaded; undefined when there is none. @throws GraphError */
  readonly pathway: (id: string, version: number) => LoadedPathway | undefined;
  readonly understanding: Understanding;
  readonly tts: TextToSpeech;
  /** null: the call is driven by key presses */
  readonly stt: SpeechToText | null;
  readonly webhook: WebhookClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly limits: PathwayLimits;
}

/** Keys that are kept while nobody listens. */
const maxTypedAhead = 64;

type Say = Extract<Action, { type: 'say' }>;
type Listen = Extract<Action, { type: 'listen' }>;
type Transfer = Extract<Action, { type: 'transfer' }>;

export class PathwayAgent implements AgentLeg {
  readonly sampleRate: 8000 | 16000;
  /** Present only when the caller's voice matters, so that nothing is decoded otherwise. */
  readonly write?: (frame: Int16Array) => void;
  readonly #settings: PathwaySettings;
  readonly #call: CallFacts;
  readonly #host: AgentHost;
  readonly #deps: PathwayAgentDeps;
  readonly #queue: PlayQueue;
  readonly #timers = new Set<Timer>();
  #conversation: Conversation | null = null;
  #first: readonly Action[] = [];
  #listening: Listening | null = null;
  #interruptionThreshold: number;
  /** Keys pressed and words said while nobody listened. */
  #typed: string[] = [];
  #spoken: string[] = [];
  #interrupted = false;
  /** Set while the caller may greet first. */
  #greeted: (() => void) | null = null;
  /** Utterances of the greeting whose words are still to come. */
  #greetings = 0;
  #ear: Ear | null = null;
  #closed = false;
  /** Texts whose synthesis has begun and that were not yet said. */
  readonly #speech = new Map<string, Promise<Int16Array>>();
  #loggedLines = 0;
  #textsSaid = 0;

  constructor(settings: PathwaySettings, call: CallFacts, host: AgentHost, deps: PathwayAgentDeps) {
    this.#settings = settings;
    this.#call = call;
    this.#host = host;
    this.#deps = deps;
    this.sampleRate = deps.limits.sampleRate;
    this.#queue = new PlayQueue(this.sampleRate * deps.limits.maxQueuedSeconds);
    this.#interruptionThreshold = settings.interruption_threshold;
    if (deps.stt || settings.wait_for_greeting) {
      const ear = new Ear(this.sampleRate, settings.language, deps.stt, this.#earEvents(), deps.log);
      this.write = (frame) => ear.write(frame);
      this.#ear = ear;
    }
  }

  /** Loads the pathway and synthesizes its first words, so that they are heard as soon as the call is answered. */
  async prepare(): Promise<void> {
    this.#conversation = this.#createConversation();
    this.#first = await this.#conversation.step({ type: 'start' });
    const firstWords = this.#first.find((action) => action.type === 'say');
    if (firstWords) await this.#speechOf(firstWords.text);
  }

  start(): void {
    this.#converse().catch((error: unknown) => {
      if (!this.#closed) this.#host.fail(error instanceof Error ? error : new Error(String(error)));
    });
  }

  read(frame: Int16Array): boolean {
    return this.#queue.read(frame);
  }

  dtmf(event: DtmfEvent): void {
    if (this.#closed || this.#settings.ignore_button_press) return;
    this.#endGreeting();
    this.#interrupt('a key press');
    if (this.#listening && !this.#listening.done) this.#listening.key(event.digit);
    else if (this.#typed.length < maxTypedAhead) this.#typed.push(event.digit);
  }

  close(_reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#listening?.close();
    this.#endGreeting();
    this.#queue.clear();
  }

  // ---------------------------------------------------------------- the conversation

  #createConversation(): Conversation {
    const { pathway_id: id, pathway_version: version, start_node_id, first_sentence } = this.#settings;
    const { clock, limits, understanding, pathway } = this.#deps;
    const loaded = pathway(id, version);
    if (!loaded) throw new Error(`Pathway ${id} version ${version} is not in the edge's configuration`);
    const { from, to, callId, variables } = this.#call;
    return new Conversation({
      pathway: loaded,
      understanding,
      variables: { ...this.#settings.request_data, ...variables },
      builtIns: () =>
        builtInVariables({ from, to, callId, timezone: this.#settings.timezone, now: clock.now() }),
      now: () => clock.now(),
      startNodeId: start_node_id,
      firstSentence: first_sentence === '' ? null : first_sentence,
      otherPathway: pathway,
      limits: { listenMs: limits.listenMs, repeats: limits.repeats },
    });
  }

  async #converse(): Promise<void> {
    const conversation = this.#conversation;
    if (!conversation) throw new Error('the agent was started before it was prepared');
    if (!this.#deps.stt) {
      this.#transcribe(
        'agent-action',
        'No speech recognition is configured: this call is driven by key presses.',
      );
    }
    if (this.#settings.wait_for_greeting) await this.#greeting();
    let actions = this.#first;
    for (;;) {
      this.#reportProgress(conversation);
      const event = await this.#perform(actions);
      if (!event || this.#closed) return;
      actions = await conversation.step(event);
    }
  }

  /** Carries out actions in order. Returns the event that the conversation waits for, null when it is over. */
  async #perform(actions: readonly Action[]): Promise<ConversationEvent | null> {
    this.#interrupted = false;
    for (const action of actions) {
      if (action.type === 'say') this.#speechOf(action.text).catch(() => undefined);
    }
    for (const action of actions) {
      if (this.#closed) return null;
      switch (action.type) {
        case 'say':
          await this.#say(action);
          break;
        case 'press':
          await this.#played();
          this.#transcribe('agent-action', `Sends the keys ${action.digits}`, action);
          await this.#sendKeys(action.digits);
          break;
        case 'listen':
          return this.#listen(action);
        case 'webhook':
          return { type: 'webhook', result: await this.#deps.webhook(action.request) };
        case 'transfer':
          await this.#played();
          return this.#transfer(action);
        case 'end':
          await this.#played();
          await this.#wait(this.#deps.limits.tailMs);
          if (!this.#closed) this.#host.hangup(action.reason);
          return null;
      }
    }
    return null;
  }

  /** Hands the caller over. After a success this agent has nothing more to do. */
  async #transfer({ target, method, announcement, acceptKey }: Transfer): Promise<ConversationEvent | null> {
    if (this.#closed) return null;
    const warm = announcement !== null || acceptKey !== null;
    const consult = warm ? { announcement, acceptKey } : null;
    const outcome = await transferTo(this.#host, target, method, consult);
    if (outcome.ok) return null;
    // What was pressed or said meanwhile was meant for nobody.
    this.#typed = [];
    this.#spoken = [];
    return { type: 'transfer', ok: false, reason: outcome.reason };
  }

  async #sendKeys(digits: string): Promise<void> {
    try {
      await this.#host.sendDtmf(digits);
    } catch (error) {
      this.#deps.log.warn({ err: error, digits }, 'the keys of a Press Button node could not be sent');
    }
  }

  /** New lines of the interpreter's log and what has been learned. */
  #reportProgress(conversation: Conversation): void {
    for (const line of conversation.log.slice(this.#loggedLines)) {
      const visit = conversation.visits.findLast((candidate) => candidate.nodeId === line.nodeId);
      this.#transcribe('agent-action', line.message, visit ?? null, line.at);
    }
    this.#loggedLines = conversation.log.length;
    this.#host.variables(conversation.learned);
  }

  // ---------------------------------------------------------------- speaking

  async #say(action: Say): Promise<void> {
    let samples: Int16Array;
    try {
      samples = await this.#speechOf(action.text);
      this.#speech.delete(action.text);
    } catch (error) {
      this.#speech.delete(action.text);
      this.#cannotSay(action, error);
      return;
    }
    if (this.#closed || this.#interrupted) return;
    this.#textsSaid++;
    this.#transcribe('assistant', action.text, action);
    const dropped = this.#queue.push(samples);
    if (dropped > 0)
      this.#deps.log.warn({ dropped_samples: dropped }, 'the speech is too long, its end is cut');
  }

  /** Without a single text said the caller would hear nothing at all: the agent has failed. */
  #cannotSay(action: Say, error: unknown): void {
    this.#deps.log.error({ err: error, text: action.text }, 'text-to-speech failed');
    if (this.#closed) return;
    this.#transcribe('agent-action', `Could not be spoken (text-to-speech failed): ${action.text}`, action);
    if (this.#textsSaid === 0) throw error;
  }

  /** Begins a synthesis, or joins the one that was begun ahead of time. */
  #speechOf(text: string): Promise<Int16Array> {
    const begun = this.#speech.get(text);
    if (begun) return begun;
    const { voice, language } = this.#settings;
    const speech = this.#deps.tts.synthesize(text, { voice, language, sampleRate: this.sampleRate });
    this.#speech.set(text, speech);
    return speech;
  }

  /** Resolves when all that was said has been heard, or was cut off. */
  #played(): Promise<void> {
    return this.#queue.playing ? new Promise((resolve) => this.#queue.mark(resolve)) : Promise.resolve();
  }

  /** Stops the speech at once, unless the agent must not be interrupted or has nothing more to hear. */
  #interrupt(by: string): void {
    if (this.#settings.block_interruptions || this.#conversation?.ended || this.#interrupted) return;
    const speaking = this.#queue.playing;
    this.#interrupted = true;
    this.#queue.clear();
    if (speaking)
      this.#transcribe('agent-action', `Interrupted by ${by}`, this.#conversation?.visits.at(-1) ?? null);
  }

  // ---------------------------------------------------------------- hearing

  async #listen(action: Listen): Promise<ConversationEvent | null> {
    this.#interruptionThreshold = action.interruptionThreshold ?? this.#settings.interruption_threshold;
    const listening = new Listening(action.keys, action.timeoutMs, this.#deps.clock);
    this.#listening = listening;
    const said = this.#spoken.shift();
    if (said !== undefined) listening.heard(said);
    while (this.#typed.length > 0 && !listening.done) listening.key(this.#typed.shift() ?? '');
    this.#played().then(() => listening.quiet());
    const event = await listening.result;
    if (event?.type === 'keys') this.#transcribe('user', `Pressed ${event.keys}`, action);
    if (event?.type === 'heard') this.#transcribe('user', event.text, action);
    return event;
  }

  #earEvents() {
    return {
      speaking: (ms: number) => {
        this.#listening?.busy();
        if (ms >= this.#interruptionThreshold && !this.#greeted && this.#deps.stt)
          this.#interrupt('the caller');
      },
      finished: () => {
        if (this.#greeted) this.#greetings++;
        this.#endGreeting();
        if (!this.#deps.stt) this.#listening?.quiet();
      },
      words: (text: string) => {
        if (this.#closed) return;
        if (this.#greetings > 0) {
          // The caller's greeting answers nothing that was asked.
          this.#greetings--;
          if (text !== '') this.#transcribe('user', text);
          return;
        }
        if (text === '') this.#listening?.quiet();
        else if (this.#listening && !this.#listening.done) this.#listening.heard(text);
        else this.#spoken.push(text);
      },
    };
  }

  /** Lets the other side say a greeting first: for a while, or to its end once it has begun. */
  async #greeting(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#greeted = resolve;
      this.#after(this.#deps.limits.greetingMs, () => {
        if (!this.#ear?.speaking) this.#endGreeting();
      });
    });
  }

  #endGreeting(): void {
    const greeted = this.#greeted;
    this.#greeted = null;
    greeted?.();
  }

  // ---------------------------------------------------------------- small parts

  #transcribe(
    user: TranscriptEntry['user'],
    text: string,
    node: { readonly nodeId: string; readonly nodeName: string } | null = null,
    at = this.#deps.clock.now(),
  ): void {
    this.#host.transcript({
      id: this.#deps.newId(),
      at: new Date(at).toISOString(),
      user,
      text,
      node_id: node?.nodeId ?? null,
      node_name: node?.nodeName ?? null,
    });
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#after(ms, resolve));
  }

  #after(ms: number, fire: () => void): void {
    const timer = this.#deps.clock.after(ms, () => {
      this.#timers.delete(timer);
      fire();
    });
    this.#timers.add(timer);
  }
}
