/** One conversation between the tested agent and a simulated caller, or a recorded one (contract 6.5). */
import { setImmediate } from 'node:timers/promises';
import type { Variables } from '#shared/agent/interfaces.ts';
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import {
  type TextAgent,
  TextSession,
  type TextSessionParts,
  type TextTurn,
} from '../../conversations/index.ts';
import { leaving, type SpokenMove, shownMove } from '../callers/moves.ts';
import type { Caller } from '../callers/ports.ts';
import type { ChatLine, ConversationRecord, Ending } from '../judging/ports.ts';
import type { Recorder } from '../mocks/mocks.ts';

export interface ConversationParts {
  readonly runId: string;
  readonly agent: TextAgent;
  readonly models: TextSessionParts['models'];
  readonly caller: Caller;
  readonly recorder: Recorder;
  readonly clock: TextSessionParts['clock'];
  readonly variables: Variables;
  /** The conversation ends after this many moves of the caller. */
  readonly maxTurns: number;
  readonly seed: number;
  /** Aborted when the record is no longer needed. */
  readonly signal: AbortSignal;
  /** Called with each line as soon as it is said. */
  readonly onLine: (line: ChatLine) => void;
}

export interface Conversed {
  readonly record: ConversationRecord;
  /** The pathway's last node. */
  readonly currentNodeId: string | null;
  /** Caller's moves. */
  readonly turnCount: number;
}

/** Rejects with ModelUnavailable when a model fails, with the reason of `signal` when that is aborted. */
export async function converse(parts: ConversationParts): Promise<Conversed> {
  const { agent, caller, clock, maxTurns, models, recorder, runId: id, seed, signal, variables } = parts;
  const { webhook, tools } = recorder;
  const session = new TextSession({ models, webhook, tools, clock, seed, signal }, agent, {
    id,
    variables,
    source: 'test',
  });
  const talk = new Transcript(parts.onLine);
  let ending: Ending | null = talk.take(await session.open(), 0);
  let turn = 0;
  while (!ending) {
    // Rules answer without ever awaiting anything; yield to other work in this process.
    await setImmediate();
    signal.throwIfAborted();
    if (turn >= maxTurns) {
      ending = { by: 'max_turns', reason: `The turn limit of ${maxTurns} was reached.` };
      break;
    }
    const view = { history: talk.lines, heard: talk.heard, movesLeft: maxTurns - turn };
    const move = await caller.next(view, signal);
    if (move.type === 'hangup') {
      ending = { by: 'caller', reason: move.reason };
      break;
    }
    turn++;
    talk.moved(move, turn);
    ending = talk.take(await answered(session, move), turn) ?? leaving(move);
  }
  return { record: recordOf(session, talk, parts, ending), currentNodeId: talk.nodeId, turnCount: turn };
}

function answered(session: TextSession, move: SpokenMove): Promise<TextTurn> {
  if (move.type === 'say') return session.step(move.text);
  return move.type === 'keys' ? session.press(move.keys) : session.silence();
}

/** The growing record of what was said and where it led. */
class Transcript {
  readonly #onLine: (line: ChatLine) => void;
  readonly lines: ChatLine[] = [];
  readonly visits: string[] = [];
  readonly log: ConversationRecord['log'][number][] = [];
  heard: readonly string[] = [];
  nodeId: string | null = null;

  constructor(onLine: (line: ChatLine) => void) {
    this.#onLine = onLine;
  }

  moved(move: SpokenMove, turn: number): void {
    this.#add({ role: 'user', content: shownMove(move), turn, node_id: null });
  }

  /** Adds the agent's part of a turn. Returns how it ended the conversation, if it did. */
  take({ completed, ending, lines, log, node, visits }: TextTurn, turn: number): Ending | null {
    for (const { text, nodeId } of lines)
      this.#add({ role: 'assistant', content: text, turn, node_id: nodeId });
    this.visits.push(...visits.map(({ nodeId }) => nodeId));
    for (const { at, nodeId, message, fact } of log) {
      this.log.push({ at: new Date(at).toISOString(), node_id: nodeId, message, fact });
    }
    this.heard = lines.map(({ text }) => text);
    this.nodeId = node?.id ?? null;
    if (!completed) return null;
    if (!ending) return { by: 'agent', reason: 'The agent ended the conversation.' };
    const reason = `The agent ended the conversation: ${ending.reason}.`;
    if (ending.by === 'transfer') return { by: ending.by, reason, transferred_to: ending.target };
    return { by: ending.by === 'loop' ? 'unknown' : ending.by, reason };
  }

  #add(line: ChatLine): void {
    this.lines.push(line);
    this.#onLine(line);
  }
}

function recordOf(
  session: TextSession,
  talk: Transcript,
  { agent, recorder }: ConversationParts,
  ending: Ending,
): ConversationRecord {
  return {
    chat_history: talk.lines,
    variables: structuredClone(session.learned),
    nodes_visited: agent.kind === 'persona' && talk.visits.length === 0 ? null : talk.visits,
    node_names: nodeNames(agent),
    webhook_calls: recorder.webhookCalls,
    tool_calls: recorder.toolCalls,
    log: talk.log,
    ending,
  };
}

function nodeNames(agent: TextAgent): Record<string, string> {
  const names: Record<string, string> = {};
  for (const { nodes } of agent.graphs) {
    for (const { id, data } of nodes) {
      const name: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'name') : undefined;
      if (typeof id === 'string' && typeof name === 'string') names[id] = name;
    }
  }
  return names;
}

/** The record of a past conversation: nobody speaks, it is only judged. */
export function recorded({ input_messages }: Pick<Scenario, 'input_messages'>): Conversed {
  let turn = 0;
  const lines = (input_messages ?? []).map(({ role, content, node_id = null }): ChatLine => {
    if (role === 'user') turn++;
    return { role, content, turn, node_id };
  });
  const visits = lines
    .flatMap(({ node_id }) => (node_id === null ? [] : [node_id]))
    .filter((id, index, ids) => id !== ids[index - 1]);
  const record: ConversationRecord = {
    chat_history: lines,
    variables: {},
    nodes_visited: visits.length > 0 ? visits : null,
    node_names: {},
    webhook_calls: [],
    tool_calls: [],
    log: [],
    ending: { by: 'unknown', reason: 'The conversation was recorded earlier.' },
  };
  return { record, currentNodeId: visits.at(-1) ?? null, turnCount: turn };
}
