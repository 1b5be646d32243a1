/**
 * Holds a conversation on a call: speaks texts, receives keys and words, and carries out the decisions of the
 * conversation in shared/agent, in order and as they are made.
 *
 *     dtmf, write --> [ listening ] --event--> conversation --actions--> say ... listen | webhook | end
 *                                                                        |
 *     read <------------------------- play queue <-----------------------+
 */
import type { Action, ConversationEvent, Talk, WebhookResult } from '#shared/agent/conversation.ts';
import { usesTool } from '#shared/agent/used-tool.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import { Timers } from '#shared/timers.ts';
import type { AgentHost, AgentLeg } from '../call/ports/agents.ts';
import type { DtmfEvent } from '../call/ports/media.ts';
import { AskingAhead, type CopyTalk } from './asking-ahead.ts';
import { type Due, dueActions } from './due-actions.ts';
import { filled } from './filler.ts';
import { Hearing } from './hearing.ts';
import { ReadAhead } from './read-ahead.ts';
import { handOver } from './realtime/hand-over.ts';
import type { NodeSession } from './realtime/node-session.ts';
import { SaidTexts } from './said-texts.ts';
import { Speaking } from './speaking.ts';
import type { TalkingDeps } from './talking-deps.ts';
import { recordedFact, Transcript } from './transcript.ts';
import { transferTo } from './transfer-to.ts';
import { TurnTimes } from './turn-times.ts';

type Say = Extract<Action, { type: 'say' }>;
type Listen = Extract<Action, { type: 'listen' }>;
type HandOver = Extract<Action, { type: 'realtime' }>;
type Webhook = Extract<Action, { type: 'webhook' }>;
type Press = Extract<Action, { type: 'press' }>;
type Transfer = Extract<Action, { type: 'transfer' }>;

const deafness = "The caller's words could not be transcribed: the transcription server failed.";
const noKeys = 'I cannot hear key presses on this line.';
const noKeysButWords = `${noKeys} Please say your answer instead.`;

export class TalkingAgent implements AgentLeg {
  readonly sampleRate: 8000 | 16000;
  /** Present only when the caller's voice is needed, so that nothing is decoded otherwise. */
  readonly write?: (frame: Int16Array) => void;
  readonly #settings: AgentSettings;
  readonly #host: AgentHost;
  readonly #deps: TalkingDeps;
  readonly #begin: (over: AbortSignal) => Talk;
  readonly #speaking: Speaking;
  readonly #hearing: Hearing;
  readonly #timers: Timers;
  readonly #transcript: Transcript;
  readonly #times: TurnTimes;
  readonly #ahead: AskingAhead<ReadAhead<Due>>;
  #talk: Talk | null = null;
  #first: ReadAhead<Due> | null = null;
  /** Aborted when the caller interrupts; a new one for each turn of the agent. */
  #turn = new AbortController();
  /** Aborted when the call is over. */
  readonly #over = new AbortController();
  #loggedLines = 0;
  #textsSaid = 0;
  readonly #said = new SaidTexts();
  #keysExplained = false;
  /** Set while the model of a Realtime node hears and speaks. */
  #model: NodeSession | null = null;

  /**
   * @param begin creates the conversation; its signal is aborted when the call is over
   * @param copy copies it, to be asked ahead; absent: it is not
   */
  constructor(
    settings: AgentSettings,
    host: AgentHost,
    deps: TalkingDeps,
    begin: (over: AbortSignal) => Talk,
    copy: CopyTalk = () => null,
  ) {
    const { voice, language } = settings;
    this.#settings = settings;
    this.#host = host;
    this.#deps = deps;
    this.#timers = new Timers(deps.clock);
    this.#transcript = new Transcript(host, deps.clock, deps.newId);
    this.#times = deps.times ?? new TurnTimes({}, deps.clock);
    this.#begin = begin;
    this.sampleRate = deps.sampleRate;
    const options = { voice, language, sampleRate: this.sampleRate };
    this.#speaking = new Speaking(deps.tts, options, deps.limits.maxQueuedSeconds, deps.pronouncer);
    this.#hearing = new Hearing({
      ...deps,
      sampleRate: this.sampleRate,
      language,
      interruptionThreshold: settings.interruption_threshold,
      waitForGreeting: settings.wait_for_greeting,
      sound: this.#times.watched(this.#speaking),
      times: this.#times,
      interruptible: () =>
        !settings.block_interruptions && this.#talk?.ended !== true && !this.#turn.signal.aborted,
      interrupt: (by) => this.#interrupt(by),
      greeting: (words) => this.#transcript.heard(words),
      mayBeAll: (words) => {
        if (!this.#talk || this.#closed) return;
        // The answer is to what was heard.
        this.#said.tell(this.#talk, this.#turn.signal.aborted);
        this.#ahead.ask(this.#talk, words);
      },
      goesOn: () => this.#ahead.drop(),
      deaf: () => this.#transcript.add('agent-action', deafness),
    });
    this.#ahead = new AskingAhead(copy, (talk, event, turn) => this.#actions(talk, event, turn));
    const { write } = this.#hearing;
    if (write || deps.realtime)
      this.write = (frame) => (this.#model ? this.#model.write(frame) : write?.(frame));
  }

  /** Starts the conversation and synthesizes its first words, so that they play as soon as the call is answered. */
  async prepare(): Promise<void> {
    await this.#hearing.prepare();
    this.#talk = this.#begin(this.#over.signal);
    this.#first = this.#actions(this.#talk, { type: 'start' }, this.#turn.signal);
    const words = await this.#first.find(({ action }) => action.type === 'say');
    if (words?.action.type === 'say') await this.#speaking.ready(words.action);
  }

  start(): void {
    this.#converse().catch((error: unknown) => {
      if (!this.#closed) this.#host.fail(error instanceof Error ? error : new Error(String(error)));
    });
  }

  read(frame: Int16Array): boolean {
    if (this.#model) return this.#model.read(frame);
    const sounds = this.#speaking.read(frame);
    this.#times.frame(sounds);
    this.#hearing.sent(sounds ? frame : null);
    return sounds;
  }

  dtmf(event: DtmfEvent): void {
    if (this.#closed || this.#settings.ignore_button_press) return;
    if (this.#model) this.#model.dtmf(event);
    else this.#hearing.key(event.digit);
  }

  instruct(text: string): void {
    // What was asked ahead does not know it.
    this.#ahead.drop();
    this.#talk?.instruct?.(text);
    this.#model?.instruct(text);
  }

  close(reason: string): void {
    if (this.#closed) return;
    this.#over.abort(new Error(`the call is over: ${reason}`));
    this.#timers.stop();
    this.#ahead.drop();
    this.#times.end();
    this.#hearing.close();
    this.#speaking.close();
    this.#model?.close(reason);
  }

  get #closed(): boolean {
    return this.#over.signal.aborted;
  }

  // ---------------------------------------------------------------- the conversation

  async #converse(): Promise<void> {
    let talk = this.#talk;
    if (!talk || !this.#first) throw new Error('the agent was started before it was prepared');
    if (!this.#deps.stt) {
      this.#transcribe(
        'agent-action',
        this.#host.keysPossible()
          ? 'No speech recognition is configured: this call is driven by key presses.'
          : 'No speech recognition is configured and keys are impossible: the caller cannot answer.',
      );
    }
    if (this.#settings.wait_for_greeting) await this.#hearing.greet(this.#deps.limits.greetingMs);
    let actions = this.#first;
    for (;;) {
      this.#times.taken(this.#turn.signal);
      const event = await this.#perform(talk, actions);
      this.#reportProgress(talk);
      if (!event || this.#closed) return;
      this.#said.tell(talk, this.#turn.signal.aborted);
      if (event.type === 'heard' || event.type === 'keys' || event.type === 'silence') {
        this.#said.forget();
        this.#times.goesOn(event.type === 'heard' ? 'words' : event.type);
      }
      const ahead = this.#ahead.take(event);
      if (!ahead) this.#speaking.forgetBegun();
      this.#turn = ahead?.turn ?? new AbortController();
      talk = ahead?.talk ?? talk;
      this.#talk = talk;
      actions = ahead?.actions ?? this.#actions(talk, event, this.#turn.signal);
    }
  }

  /** The conversation's actions for an event; texts are synthesized as soon as they are known. */
  #actions(talk: Talk, event: ConversationEvent, turn: AbortSignal): ReadAhead<Due> {
    this.#times.asked(turn);
    return new ReadAhead(dueActions(talk, event, turn), ({ action }) => {
      this.#times.decided(turn);
      if (action.type === 'say') this.#speaking.begin(action);
    });
  }

  /** Carries out actions in order. Returns the event the conversation waits for, null when it is over. */
  async #perform(talk: Talk, actions: AsyncIterable<Due>): Promise<ConversationEvent | null> {
    for await (const { action, lines } of actions) {
      this.#reportProgress(talk, lines);
      if (this.#closed) return null;
      switch (action.type) {
        case 'say':
          await this.#explainKeys(action);
          await this.#say(action);
          break;
        case 'recording':
          this.#host.recording?.(action.step);
          break;
        case 'press':
          await this.#speaking.played();
          this.#transcribe('agent-action', `Sends the keys ${action.digits}`, action);
          await this.#sendKeys(action);
          break;
        case 'listen':
          return this.#listen(action);
        case 'webhook':
          this.#speaking.premake(action.likely);
          return { type: 'webhook', result: await this.#askWebhook(action) };
        case 'tool':
          this.#transcribe('agent-action', usesTool(action.name), action, undefined, {
            kind: 'tool_used',
            name: action.name,
          });
          return { type: 'tool', result: await this.#deps.tool(action, this.#over.signal) };
        case 'realtime':
          await this.#speaking.played();
          return this.#handOver(action);
        case 'transfer':
          await this.#speaking.played();
          return this.#transfer(action);
        case 'end':
          await this.#speaking.played();
          await this.#wait(this.#deps.limits.tailMs);
          if (!this.#closed) this.#host.hangup(action.reason);
          return null;
      }
    }
    return null;
  }

  #askWebhook({ request, filler, nodeId, nodeName }: Webhook): Promise<WebhookResult> {
    const answer = this.#deps.webhook(request, nodeId);
    if (!filler) return answer;
    this.#speaking.begin(filler);
    return filled(answer, {
      afterMs: filler.afterMs,
      timers: this.#timers,
      played: () => this.#speaking.played(),
      say: (wanted) => this.#say({ type: 'say', ...filler, nodeId, nodeName }, false, wanted),
      stop: () => this.#speaking.stop(true),
    });
  }

  /** A model hears and speaks until it hands back. */
  async #handOver({ order, nodeId, nodeName }: HandOver): Promise<ConversationEvent | null> {
    if (this.#closed) return null;
    const node = { nodeId, nodeName };
    const parts = { settings: this.#settings, host: this.#host, node, sampleRate: this.sampleRate };
    this.#hearing.handOver();
    const result = await handOver(this.#deps.realtime, order, parts, (model) => {
      this.#model = model;
    });
    this.#hearing.forget();
    return { type: 'realtime', result };
  }

  /** Transfers the caller. After a success this agent is done. */
  async #transfer({ target, method, announcement, acceptKey }: Transfer): Promise<ConversationEvent | null> {
    if (this.#closed) return null;
    const warm = announcement !== null || acceptKey !== null;
    const consult = warm ? { announcement, acceptKey } : null;
    const outcome = await transferTo(this.#host, target, method, consult);
    if (outcome.ok) return null;
    this.#hearing.forget();
    return { type: 'transfer', ok: false, reason: outcome.reason };
  }

  async #sendKeys({ digits, nodeId, nodeName }: Press): Promise<void> {
    try {
      await this.#host.sendDtmf(digits);
    } catch (error) {
      this.#deps.log.warn({ err: error, digits }, 'the keys of the agent could not be sent');
      const why = error instanceof Error ? error.message : String(error);
      this.#transcribe('agent-action', `The keys ${digits} could not be sent: ${why}`, { nodeId, nodeName });
    }
  }

  /** Reports new log lines of the conversation and extracted variables. @param upTo lines of the log */
  #reportProgress(talk: Talk, upTo = talk.log.length): void {
    this.#deps.watched?.(talk);
    const lines = talk.log.slice(this.#loggedLines, upTo);
    if (lines.length === 0) return;
    for (const line of lines) {
      const visit = talk.visits.findLast((candidate) => candidate.nodeId === line.nodeId);
      this.#transcribe('agent-action', line.message, visit ?? null, line.at, recordedFact(line.fact));
    }
    this.#loggedLines += lines.length;
    this.#host.variables(talk.learned);
  }

  // ---------------------------------------------------------------- speaking

  /**
   * @param ofTalk whether the conversation knows the words
   * @param wanted aborted when they are not to be said any more, if they do not sound yet
   */
  async #say(action: Say, ofTalk = true, wanted?: AbortSignal): Promise<void> {
    const turn = this.#turn.signal;
    const said = ofTalk ? this.#said.add(action.text) : null;
    try {
      await this.#speaking.ready(action);
    } catch (error) {
      if (!turn.aborted && !wanted?.aborted) this.#cannotSay(action, error);
      return;
    }
    if (this.#closed || turn.aborted || wanted?.aborted) return;
    this.#textsSaid++;
    const line = this.#transcribe('assistant', action.text, action);
    if (said) said.heard = action.text;
    try {
      const cutOff = (heard: string, told: boolean) => {
        if (said) said.heard = heard;
        this.#deps.cutOff?.(line.id, heard);
        // The line has the words that were heard. Who presses a key knows what was to come.
        this.#transcript.cutOff(line, heard, told);
      };
      const dropped = await this.#speaking.say(action, cutOff);
      if (dropped > 0) {
        this.#deps.log.warn({ dropped_samples: dropped }, 'the speech is too long, its end is cut');
      }
    } catch (error) {
      if (this.#closed || turn.aborted) return;
      this.#deps.log.error({ err: error, text: action.text }, 'text-to-speech failed in the midst of a text');
      this.#transcribe('agent-action', 'Its end could not be spoken (text-to-speech failed)', action);
    }
  }

  /** If no text has been spoken yet, the caller would hear nothing at all: the agent has failed. */
  #cannotSay(action: Say, error: unknown): void {
    this.#deps.log.error({ err: error, text: action.text }, 'text-to-speech failed');
    if (this.#closed) return;
    this.#transcribe('agent-action', `Could not be spoken (text-to-speech failed): ${action.text}`, action);
    if (this.#textsSaid === 0) throw error;
  }

  /** Stops the speech for good. */
  #interrupt(by: string): void {
    const { playing } = this.#speaking;
    this.#turn.abort();
    this.#speaking.stop(by === 'the caller');
    if (playing) this.#times.cut();
    if (playing) this.#transcribe('agent-action', `Interrupted by ${by}`, this.#talk?.visits.at(-1) ?? null);
  }

  async #listen(action: Listen): Promise<ConversationEvent | null> {
    this.#speaking.premake(action.likely);
    await this.#explainKeys(action);
    const event = await this.#hearing.listen(action, this.#speaking.played());
    if (event?.type === 'keys') this.#transcribe('user', `Pressed ${event.keys}`, action);
    const { lastWords } = this.#hearing;
    if (event?.type === 'heard' && lastWords) this.#transcript.heard(lastWords, action);
    return event;
  }

  /** Tells the caller once, before keys are first asked for or awaited, that key presses cannot be received. */
  async #explainKeys({ keysExpected, nodeId, nodeName }: Say | Listen): Promise<void> {
    if (!keysExpected || this.#settings.ignore_button_press || this.#keysExplained) return;
    if (this.#host.keysPossible() || this.#turn.signal.aborted) return;
    this.#keysExplained = true;
    const text = this.#deps.stt ? noKeysButWords : noKeys;
    await this.#say({ type: 'say', text, nodeId, nodeName }, false);
  }

  // ---------------------------------------------------------------- helpers

  #transcribe(...line: Parameters<Transcript['add']>): TranscriptEntry {
    return this.#transcript.add(...line);
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.#timers.after(ms, resolve));
  }
}
