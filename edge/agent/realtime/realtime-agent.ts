/**
 * An agent whose model hears the caller and speaks itself: passes audio between the two, carries out what the model asks
 * for, and keeps what was said and heard.
 *
 *     write --> link --> model server --> playback --> read
 *                             |
 *                             +--> tools, transfers, keys, the end of the call
 */
import type { ToolCall } from '#shared/agent/dialogue.ts';
import { withInstruction } from '#shared/agent/instructions.ts';
import type { ToolRunner } from '#shared/agent/interfaces.ts';
import { endTool, type Order, orderOf, toolsOf } from '#shared/agent/persona-tools.ts';
import { fillTemplate } from '#shared/agent/template.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { NewId } from '#shared/ids.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';
import { Timers } from '#shared/timers.ts';
import type { AgentHost, AgentLeg, CallFacts } from '../../call/ports/agents.ts';
import type { DtmfEvent } from '../../call/ports/media.ts';
import type { TransferOutcome } from '../../call/ports/transfer.ts';
import { callVariables } from '../call-variables.ts';
import { Seldom } from '../seldom.ts';
import { passOn, transferTo } from '../transfer-to.ts';
import { TurnTimes } from '../turn-times.ts';
import { KeyEntry } from './key-entry.ts';
import { ModelLink, type ModelLinkDeps } from './model-link.ts';
import type { SpokenLine } from './model-session.ts';
import type { NodePart } from './node-part.ts';
import { Playback } from './playback.ts';
import type { RealtimeLimits } from './realtime-limits.ts';
import { apology, beingTransferred, promptOf } from './realtime-prompt.ts';
import { SaidSoFar } from './said-so-far.ts';
import { dataForModel, ToolCalls } from './tool-calls.ts';

export type RealtimeSettings = Extract<AgentSettings, { kind: 'realtime' }>;

export interface RealtimeDeps extends Omit<ModelLinkDeps, 'options' | 'limits'> {
  readonly newId: NewId;
  /** Tells the caller that the session is lost. */
  readonly tts: TextToSpeech;
  /** null: the call has no tools */
  readonly tools: ToolRunner | null;
  readonly limits: RealtimeLimits;
  /** Of a pathway, whose node the model is for; absent: for the whole call. */
  readonly node?: NodePart;
}

const lookMs = 1000;

export class RealtimeAgent implements AgentLeg {
  readonly #settings: RealtimeSettings;
  readonly #call: CallFacts;
  readonly #host: AgentHost;
  readonly #deps: RealtimeDeps;
  readonly #link: ModelLink;
  readonly #timers: Timers;
  readonly #said: SaidSoFar;
  readonly #times: TurnTimes;
  /** The answer whose sound came last. */
  #sounding: string | null = null;
  readonly #over = new AbortController();
  #rate: 8000 | 16000 = 8000;
  #playback: Playback;
  #variables: Record<string, unknown>;
  readonly #calls = new ToolCalls();
  readonly #keys: KeyEntry;
  #sessionSince = 0;
  /** The call is about to end or to be transferred, or its model is lost: nothing more is begun. */
  #leaving = false;
  /** The call goes to somebody else, perhaps: until that is known nothing else ends it. */
  #transfer: Promise<TransferOutcome | null> | null = null;
  /** By supervisors. */
  #told: readonly string[] = [];
  readonly #full: Seldom;

  constructor(settings: RealtimeSettings, call: CallFacts, host: AgentHost, deps: RealtimeDeps) {
    const { limits, clock, newId } = deps;
    this.#settings = settings;
    this.#call = call;
    this.#host = host;
    this.#deps = deps;
    this.#timers = new Timers(clock);
    this.#full = new Seldom(clock);
    this.#times = new TurnTimes(host, clock);
    this.#variables = callVariables(settings, call, () => clock.now()).variables;
    this.#said = new SaidSoFar((entry) => host.transcript(entry), clock, newId, deps.node?.history);
    this.#playback = new Playback(this.#rate, limits.maxQueuedSeconds);
    this.#keys = new KeyEntry(clock, limits.keyPauseMs, (keys) => this.#tellKeys(keys));
    this.#link = new ModelLink(
      { ...deps, options: () => this.#options() },
      {
        room: (item) => this.#playback.hasRoom(item),
        sound: (item, samples) => this.#sound(item, samples),
        soundOver: (item) => this.#playback.soundOver(item),
        words: (item, more) => this.#playback.words(item, more),
        said: (item, text) => {
          const all = this.#playback.said(item, text);
          if (all !== null) this.#said.assistant(item, all);
        },
        heard: (text) => {
          this.#times.words(text === '');
          this.#said.user(text);
        },
        stopped: () => this.#times.over(0),
        interrupted: () => {
          this.#times.voice();
          if (!settings.block_interruptions) this.#cut(true);
        },
        tool: (order) => this.#takes(order),
        toolCancelled: (id) => this.#calls.cancel(id),
        begun: (rate) => {
          if (rate !== this.#rate) this.#playback = new Playback(rate, limits.maxQueuedSeconds);
          this.#rate = rate;
          this.#sessionSince = clock.elapsed();
          this.#calls.renew();
          this.#endOpen();
        },
        lost: () => this.#endOpen(),
        givenUp: (why) => void this.#givenUp(why),
      },
    );
  }

  get sampleRate(): 8000 | 16000 {
    return this.#rate;
  }

  /** Frames of the caller that the server did not read. */
  get droppedFrames(): number {
    return this.#link.dropped;
  }

  /** What was said with the model: the last lines, oldest first. */
  get said(): SpokenLine[] {
    return this.#said.own;
  }

  /** Sound that waits to be played. */
  get queuedMs(): number {
    return this.#playback.queuedMs;
  }

  async prepare(): Promise<void> {
    await this.#link.connect();
    this.#watchAge();
  }

  start(): void {
    const { wait_for_greeting: waits, first_sentence: sentence } = this.#settings;
    const { node } = this.#deps;
    const first = node ? node.sentence : sentence && this.#filled(sentence);
    this.#link.start(waits ? null : { sentence: first });
  }

  read(frame: Int16Array): boolean {
    const sounds = this.#playback.read(frame);
    this.#times.frame(sounds);
    return sounds;
  }

  write(frame: Int16Array): void {
    this.#link.audio(frame);
  }

  dtmf({ digit }: DtmfEvent): void {
    if (this.#settings.ignore_button_press || this.#closed) return;
    if (!this.#settings.block_interruptions) {
      this.#link.session?.stop();
      this.#cut(true);
    }
    this.#keys.add(digit);
  }

  instruct(text: string): void {
    this.#told = withInstruction(this.#told, text);
    this.#link.tell(text);
  }

  close(reason: string): void {
    if (this.#closed) return;
    this.#over.abort(new Error(`the call is over: ${reason}`));
    this.#timers.stop();
    this.#times.end();
    this.#cut(false);
    this.#link.close();
    this.#keys.end();
  }

  get #closed(): boolean {
    return this.#over.signal.aborted;
  }

  // ---------------------------------------------------------------- the session

  #options() {
    const { voice, language, temperature = null, block_interruptions: blocked, prompt } = this.#settings;
    const { node } = this.#deps;
    const tools = toolsOf(this.#given()).filter(({ name }) => name !== endTool || (node?.mayEnd ?? true));
    return {
      instructions: promptOf(node ? node.instructions : this.#filled(prompt), this.#told),
      tools: node?.handBack ? [...tools, node.handBack.tool] : tools,
      voice,
      language,
      temperature,
      interruptible: !blocked,
      history: this.#said.history,
      codec: this.#call.codec ?? null,
    };
  }

  #filled(text: string): string {
    const { builtIns } = callVariables(this.#settings, this.#call, () => this.#deps.clock.now());
    return fillTemplate(text, { ...this.#variables, ...builtIns() });
  }

  #given() {
    const { transfer_list: transfers = {} } = this.#settings;
    return { transfers, pathways: [], tools: this.#deps.tools?.list() ?? [], onCall: true };
  }

  /** A session that is old is replaced in a pause, and in the end without one. */
  #watchAge(): void {
    this.#timers.after(lookMs, () => {
      const { limits, clock } = this.#deps;
      const age = clock.elapsed() - this.#sessionSince;
      const isBusy = this.#playback.playing || this.#calls.running > 0;
      if (age >= limits.renewLatestMs || (age >= limits.renewAfterMs && !isBusy)) {
        this.#sessionSince = clock.elapsed();
        this.#link.renew('its server ends a session after 60 minutes');
      }
      this.#watchAge();
    });
  }

  // ---------------------------------------------------------------- sound

  #sound(item: string, samples: Int16Array): void {
    if (item !== this.#sounding) this.#times.answers();
    this.#sounding = item;
    if (this.#playback.push(item, samples) === 0) return;
    const words = `an answer is longer than the ${this.#deps.limits.maxQueuedSeconds} s that are queued`;
    this.#full.log(() => this.#deps.log.warn({ item }, words));
  }

  /** Stops the sound. What the caller heard is what the transcript has, and the model. */
  #cut(tell: boolean): void {
    if (tell && this.#playback.playing) this.#times.cut();
    for (const { item, ms, text } of this.#playback.cut()) {
      if (tell) this.#link.cut(item, ms);
      this.#said.assistant(item, text);
    }
  }

  /** The session has ended: no more comes of its answers. */
  #endOpen(): void {
    for (const { item, text } of this.#playback.endOpen()) this.#said.assistant(item, text);
  }

  #tellKeys(keys: string): void {
    this.#said.user(`Pressed ${keys}`);
    this.#link.tell(`The caller pressed the keys ${keys} on the telephone.`);
  }

  // ---------------------------------------------------------------- what the model asks for

  #takes(call: ToolCall): boolean {
    if (this.#calls.has(call.id) || this.#closed || this.#leaving) return false;
    void this.#tool(call);
    return true;
  }

  async #tool(call: ToolCall): Promise<void> {
    const session = this.#link.session;
    if (this.#calls.isFull) {
      session?.toolResult(call, { ok: false, error: 'too many tools were called' });
      return;
    }
    const { signal: cancelled, ended } = this.#calls.begin(call.id);
    const signal = AbortSignal.any([cancelled, this.#over.signal]);
    const carryOut = async () =>
      this.#handsBack(call, signal) ?? this.#carryOut(orderOf(call, this.#given()), signal);
    const result = await carryOut().catch((error: unknown) => ({
      ok: false,
      error: error instanceof Error ? error.message : String(error),
    }));
    ended();
    if (result === null || signal.aborted) return;
    if (this.#link.session === session) session?.toolResult(call, result);
    // The session that asked has been replaced: the next one has not heard of the call.
    else this.#link.tell(`The result of ${call.name}: ${JSON.stringify(result)}`);
  }

  /** @returns the result for the model; null: the call is over */
  async #carryOut(order: Order, signal: AbortSignal): Promise<object | null> {
    switch (order.kind) {
      case 'end':
        if (this.#deps.node?.mayEnd === false) return { ok: false, error: 'hand back instead' };
        return this.#end(signal);
      case 'transfer':
        return this.#passOn(order.target, signal);
      case 'press':
        await this.#playback.played();
        if (signal.aborted) return null;
        this.#said.note(`Sends the keys ${order.digits}`);
        await this.#host.sendDtmf(order.digits);
        return { ok: true };
      case 'tool': {
        const { name } = order.tool;
        this.#said.toolUsed(name);
        const done = await this.#deps.tools?.run(name, order.input, signal, this.#variables);
        if (!done) return { ok: false, error: 'no tools can be run here' };
        const { ok, data, error, variables } = done;
        this.#said.toolEnded({ tool: name, ok, error });
        this.#variables = { ...this.#variables, ...variables };
        if (Object.keys(variables).length > 0) this.#host.variables(this.#variables);
        return { ok, data: dataForModel(data), error };
      }
      case 'refused':
        return { ok: false, error: order.why };
      case 'pathway':
        return { ok: false, error: 'there is no such procedure' };
    }
  }

  /** null: that is another tool */
  #handsBack(call: ToolCall, signal: AbortSignal): Promise<object | null> | null {
    const { handBack = null } = this.#deps.node ?? {};
    if (call.name !== handBack?.tool.name) return null;
    const go = handBack.read(call);
    return 'refused' in go ? Promise.resolve({ ok: false, error: go.refused }) : this.#leave(go, signal);
  }

  /**
   * What was said before is played first; a caller who speaks meanwhile has something to say. The call is left once, and
   * not by an order that was taken back.
   */
  async #leave(go: () => void, signal: AbortSignal): Promise<object | null> {
    if (!(await this.#playback.played())) return { ok: false, error: 'the caller speaks: answer first' };
    if (this.#transfer) return beingTransferred;
    if (signal.aborted || this.#leaving) return null;
    this.#leaving = true;
    go();
    return null;
  }

  #end(signal: AbortSignal): Promise<object | null> {
    const hangup = () => this.#host.hangup('the model ended the call');
    return this.#leave(() => this.#timers.after(this.#deps.limits.tailMs, hangup), signal);
  }

  async #passOn(target: string, signal: AbortSignal): Promise<object | null> {
    if (this.#transfer) return beingTransferred;
    this.#transfer = this.#playback.played().then(() => {
      return signal.aborted || this.#leaving ? null : transferTo(this.#host, target, 'bridge');
    });
    const outcome = await this.#transfer.finally(() => {
      this.#transfer = null;
    });
    return outcome === null || outcome.ok ? null : { ok: false, error: outcome.reason };
  }

  /** The fallback number takes the call; without one, the caller hears why it ends. */
  async #givenUp(why: string): Promise<void> {
    const { fallback_number: fallback } = this.#settings;
    const { tts, log } = this.#deps;
    const lost = new Error(why);
    // The target may answer although the model is lost.
    if ((await this.#transfer?.catch(() => null))?.ok || this.#closed) return;
    this.#leaving = true;
    if (this.#deps.node) {
      this.#host.fail(lost);
      return;
    }
    if (fallback !== null) {
      await passOn(this.#host, fallback, lost, log);
      return;
    }
    try {
      const words = await tts.synthesize(apology, { voice: null, language: 'en-US', sampleRate: this.#rate });
      if (this.#closed) return;
      this.#playback.push('apology', words);
      this.#said.assistant('apology', apology);
      this.#playback.said('apology', apology);
      await this.#playback.played();
    } catch (error) {
      log.warn({ err: error }, 'the caller is not told that the model is lost');
    }
    if (!this.#closed) this.#host.fail(lost);
  }
}
