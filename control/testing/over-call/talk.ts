/**
 * One conversation over a call, from the caller's side: its moves go to the edge, which sends what the caller hears.
 */

import type { ToolRunner } from '#shared/agent/interfaces.ts';
import { readLogFact } from '#shared/agent/log-fact-kinds.ts';
import type { AgentTestEvent, HeardTurn } from '#shared/agent-test-protocol.ts';
import { counted } from '#shared/counted.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import { type TerminationCode, terminations } from '#shared/termination.ts';
import { nodeTool, type TextAgent } from '../../conversations/index.ts';
import { type SpokenMove, shownMove } from '../callers/moves.ts';
import type { Caller } from '../callers/ports.ts';
import type { ChatLine, ConversationRecord, Ending } from '../judging/ports.ts';
import type { Recorder } from '../mocks/mocks.ts';
import { pressed } from './keys-for-speech.ts';
import type { TestLine } from './line.ts';
import type { CallSettings } from './settings.ts';
import type { MeasuredTurn } from './voice.ts';

/** A run's call could not be placed, or was cut off: there is no result about the agent. */
export class CallFailure extends Error {
  override readonly name: string = 'CallFailure';
  readonly answered: boolean;

  /** @param answered whether it was a call, however bad */
  constructor(message: string, answered = false) {
    super(message);
    this.answered = answered;
  }
}

/** There was no room for the call: nothing is known about the agent, and there may be soon. */
export class NoRoom extends CallFailure {
  override readonly name: string = 'NoRoom';
}

export interface CallTalkParts {
  readonly runId: string;
  /** null: of others; its inside is not known. */
  readonly agent: TextAgent | null;
  readonly caller: Caller;
  readonly recorder: Recorder;
  readonly settings: CallSettings;
  /** Whom it calls; absent: a number of the edge that calls. */
  readonly target?: { readonly to?: string };
  /** The caller hangs up after this many moves. */
  readonly maxTurns: number;
  readonly signal: AbortSignal;
  readonly onLine: (line: ChatLine) => void;
}

/** A line of the agent by its own account. */
type Said = Pick<Extract<AgentTestEvent, { type: 'line' }>, 'text' | 'node_id' | 'id'>;
type Ended = Extract<AgentTestEvent, { type: 'ended' }>;
type Question = Extract<AgentTestEvent, { type: 'webhook' | 'tool' }>;

export interface CallTalked {
  readonly record: ConversationRecord;
  readonly currentNodeId: string | null;
  readonly turnCount: number;
  readonly turns: readonly MeasuredTurn[];
  readonly ended: Ended;
}

export class CallTalk {
  readonly #parts: CallTalkParts;
  readonly #line: TestLine;
  readonly #lines: ChatLine[] = [];
  readonly #turns: MeasuredTurn[] = [];
  /** What the agent reports to have said and the caller has not received yet. */
  #said: Said[] = [];
  /** Lines of the conversation by the edge's ids, as far as they are the agent's own account. */
  readonly #byId = new Map<string, ChatLine>();
  #hears = true;
  /** Moves in words that the agent could not understand. */
  #inVain = 0;
  #answered = false;
  /** What the agent said in each turn, and what was transcribed of it. */
  readonly #spoken: { readonly said: Said[]; heard: string | null }[] = [];
  /** Caller's moves so far. */
  #turn = 0;
  #ending: Ending | null = null;
  /** A move sent to the edge that has not started. */
  #wanted: SpokenMove | null = null;
  /** Why the caller hangs up after the agent's answer. */
  #leaves: string | null = null;

  constructor(line: TestLine, parts: CallTalkParts) {
    this.#parts = parts;
    this.#line = line;
    line.questions((question) => void this.#answer(question));
  }

  /**
   * Rejects with CallFailure when the call has no result about the agent; with the reason of the signal when aborted.
   */
  async hold(): Promise<CallTalked> {
    for (;;) {
      const told = await this.#line.next(this.#parts.signal);
      if (!told) throw new CallFailure('The edge was lost during the call.', this.#answered);
      if (told.type === 'answered') {
        this.#answered = true;
        this.#hears = told.hears ?? true;
      } else if (told.type === 'line') this.#said.push(told);
      else if (told.type === 'cut') this.#cut(told.id, told.text);
      else if (told.type === 'turn') await this.#heard(told.heard, told.last);
      else if (told.type === 'moved') this.#moved();
      else if (told.type === 'ended') return this.#end(told);
    }
  }

  // ---------------------------------------------------------------- taking turns

  async #heard(heardTurn: HeardTurn, last: boolean): Promise<void> {
    const heard = this.#transcribe(heardTurn);
    this.#turns.push({ turn: this.#turn, ...heardTurn });
    if (this.#ending || last) return;
    const { caller, maxTurns, signal } = this.#parts;
    if (this.#leaves !== null) return this.#hangUp({ by: 'caller', reason: this.#leaves });
    if (this.#turn >= maxTurns) {
      return this.#hangUp({ by: 'max_turns', reason: `The turn limit of ${maxTurns} was reached.` });
    }
    const view = { history: this.#lines, heard, movesLeft: maxTurns - this.#turn };
    const wanted = await caller.next(view, signal);
    const move = this.#hears ? wanted : pressed(wanted, heard);
    if (move.type === 'hangup') return this.#hangUp({ by: 'caller', reason: move.reason });
    this.#make(move);
  }

  /** The agent's words, as transcribed if they were, else by its own report. */
  #transcribe({ words }: Pick<HeardTurn, 'words'>): string[] {
    const said = this.#said.splice(0);
    this.#noteSpoken(said, words);
    const node_id = said.at(-1)?.node_id ?? null;
    const heard: Said[] = words === null ? said : words === '' ? [] : [{ text: words, node_id }];
    for (const { id, node_id, text } of heard) {
      const line: ChatLine = { role: 'assistant', content: text, turn: this.#turn, node_id };
      if (id !== undefined) this.#byId.set(id, line);
      this.#add(line);
    }
    return heard.map(({ text }) => text);
  }

  /** A pause splits a turn: words without a new line belong to the line before. */
  #noteSpoken(said: Said[], heard: string | null): void {
    const last = this.#spoken.at(-1);
    if (said.length > 0) this.#spoken.push({ said, heard });
    else if (last?.heard != null && heard !== null) last.heard = `${last.heard} ${heard}`.trim();
  }

  /** Of a line that was cut off only the words count that were heard. */
  #cut(id: string, text: string): void {
    const waiting = this.#said.findIndex((said) => said.id === id);
    const said = this.#said[waiting];
    if (said) this.#said.splice(waiting, 1, ...(text === '' ? [] : [{ ...said, text }]));
    // Its last words were said while the caller spoke, and were not transcribed.
    for (const spoken of this.#spoken) if (spoken.said.some((one) => one.id === id)) spoken.heard = null;
    const line = this.#byId.get(id);
    const at = line ? this.#lines.indexOf(line) : -1;
    if (!line || at < 0) return;
    const heard = { ...line, content: text };
    this.#lines.splice(at, 1, ...(text === '' ? [] : [heard]));
    this.#byId.set(id, heard);
  }

  #make(move: SpokenMove): void {
    this.#wanted = move;
    const interrupt_after_ms = interruptAfter(this.#parts.settings, this.#turn + 2);
    if (move.type === 'say') this.#line.send({ type: 'say', text: move.text, interrupt_after_ms });
    else if (move.type === 'keys') this.#line.send({ type: 'keys', keys: move.keys, interrupt_after_ms });
    else this.#line.send({ type: 'silence', interrupt_after_ms });
  }

  /** The caller's decision takes effect only now: a call may end before. */
  #moved(): void {
    const move = this.#wanted;
    this.#wanted = null;
    if (!move) return;
    this.#turn++;
    if (!this.#hears && move.type === 'say') this.#inVain++;
    this.#leaves = move.leaves ?? null;
    this.#add({ role: 'user', content: shownMove(move), turn: this.#turn, node_id: null });
  }

  /** An agent without ears has not failed where it heard nothing: who reads the verdict has to know. */
  #explained(ending: Ending): Ending {
    if (this.#inVain === 0) return ending;
    const why = `The agent understands keys only, because its edge has no transcription server (STT_BASE_URL): ${counted(this.#inVain, 'spoken answer')} of the caller could not be understood.`;
    return { ...ending, reason: `${ending.reason} ${why}` };
  }

  #hangUp(ending: Ending): void {
    this.#ending = ending;
    this.#line.send({ type: 'hangup', reason: ending.reason });
  }

  #add(line: ChatLine): void {
    this.#lines.push(line);
    this.#parts.onLine(line);
  }

  // ---------------------------------------------------------------- the agent's webhooks and tools

  async #answer(question: Question): Promise<void> {
    const { recorder, signal } = this.#parts;
    const { id } = question;
    try {
      if (question.type === 'webhook') {
        const result = await recorder.webhook(question.request, question.node_id);
        this.#line.send({ type: 'webhook_result', id, result });
      } else {
        const { name, runner } = this.#runner(question.tool_id);
        const { inputs, variables } = question;
        const result = await runner.run(name, inputs, signal, variables);
        this.#line.send({ type: 'tool_result', id, result });
      }
    } catch (error) {
      // An aborted run closes the line; any other error is returned to the agent.
      const text = error instanceof Error ? error.message : String(error);
      const result = { ok: false, data: null, error: text, variables: {} };
      this.#line.send({ type: 'tool_result', id, result });
    }
  }

  #runner(toolId: string): { name: string; runner: ToolRunner } {
    const { agent, recorder, runId } = this.#parts;
    if (agent === null) throw new Error('the agent has no tools');
    const own = agent.kind === 'persona' ? (agent.settings.tools ?? []) : [];
    const tool = own.find(({ tool_id }) => tool_id === toolId) ?? nodeTool(agent, toolId);
    const { tools } = recorder;
    if (!tool || !tools) throw new Error('the agent has no such tool');
    const conversation = { orgId: agent.orgId, conversationId: runId, source: 'test' as const };
    return { name: tool.name, runner: tools([tool], conversation) };
  }

  // ---------------------------------------------------------------- the end

  #end(ended: Ended): CallTalked {
    this.#transcribe({ words: null });
    const { agent, recorder, settings, target } = this.#parts;
    const { visits, log } = ended;
    checkCall(ended, target?.to === undefined);
    if (settings.weather && !ended.weather) throw new CallFailure(calmEdge, true);
    const hasNoNodes = agent === null || (agent.kind === 'persona' && !visits?.length);
    const record: ConversationRecord = {
      ...(agent === null && { foreign: true as const }),
      chat_history: this.#lines,
      variables: ended.variables,
      nodes_visited: hasNoNodes ? null : (visits ?? []).map(({ node_id }) => node_id),
      node_names: Object.fromEntries((visits ?? []).map(({ node_id, node_name }) => [node_id, node_name])),
      webhook_calls: recorder.webhookCalls,
      tool_calls: recorder.toolCalls,
      log: log.map(({ at, node_id, message, fact }) => ({
        at: new Date(at).toISOString(),
        node_id,
        message,
        fact: readLogFact(fact),
      })),
      ending: this.#explained(this.#ending ?? endingOf(ended)),
      spoken: this.#spoken.map(({ said, heard }) => ({
        said: said.map(({ text }) => text).join(' '),
        heard,
      })),
    };
    const currentNodeId = visits?.at(-1)?.node_id ?? null;
    return { record, currentNodeId, turnCount: this.#turn, turns: this.#turns, ended };
  }
}

/** When the caller interrupts with its move of this number; null: it does not. */
export function interruptAfter(settings: CallSettings, move: number): number | null {
  return settings.interruptTurns.has(move) ? settings.interruptAfterMs : null;
}

/**
 * @param callsItself whether both ends are at one edge: what refuses the call is that edge
 * @throws CallFailure when the call gives no result about the agent
 */
function checkCall({ caller, agent }: Ended, callsItself: boolean): void {
  if (caller.answered_at === null) {
    const lacksRoom =
      [caller, agent].some((end) => isFull.has(end?.termination ?? '')) ||
      (callsItself && caller.sip_code === 503);
    const why = `The call was not answered: ${whyEnded(agent ?? caller)}`;
    throw lacksRoom ? new NoRoom(why) : new CallFailure(why);
  }
  const media = caller.media;
  if (media && media.packets_received === 0) {
    throw new CallFailure(`No audio came from the agent: ${media.cause ?? 'no packet arrived'}`, true);
  }
  if (agent?.termination === 'agent_failed') {
    throw new CallFailure(
      `The agent failed during the call: ${agent.termination_detail ?? 'no reason given'}`,
      true,
    );
  }
  if (!usual.has(caller.termination ?? '')) {
    throw new CallFailure(`The call was cut off: ${whyEnded(caller)}`, true);
  }
}

const calmEdge =
  'The call had no weather, because the edge is of an earlier version: upgrade it, or run the test without weather.';

/** Ends of calls for which an edge has no room. */
const isFull: ReadonlySet<string> = new Set(['capacity', 'no_media_port']);

/** Normal ends. */
const usual: ReadonlySet<string> = new Set(['agent_hangup', 'callee_hangup']);

function whyEnded({ termination, termination_detail, sip_code, sip_reason }: CallRecord): string {
  const known = termination !== null && Object.hasOwn(terminations, termination);
  const summary = known ? terminations[termination as TerminationCode].summary : 'no reason is known.';
  const answer = sip_code === null ? '' : ` (${sip_code} ${sip_reason ?? ''})`.replace(' )', ')');
  return `${termination_detail === null ? summary : `${summary} ${termination_detail}`}${answer}`;
}

function endingOf({ agent, caller, transferred_to }: Ended): Ending {
  if (transferred_to !== null) {
    const reason = `The agent ended the conversation: transfer to ${transferred_to}.`;
    return { by: 'transfer', reason, transferred_to };
  }
  if (caller.termination !== 'callee_hangup') return { by: 'unknown', reason: whyEnded(caller) };
  const why = agent?.termination_detail;
  return { by: 'agent', reason: `The agent ended the conversation${why ? `: ${why}` : ''}.` };
}
