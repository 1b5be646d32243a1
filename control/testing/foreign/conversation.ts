/** One conversation between an agent that is not ours and a simulated caller. What it does inside is not known. */
import type { OutgoingParts } from '#outgoing/request.ts';
import type { SecretBox, TestAgentRow } from '../../db/index.ts';
import { leaving, shownMove } from '../callers/moves.ts';
import type { Caller } from '../callers/ports.ts';
import type { ChatLine, ConversationRecord, Ending } from '../judging/ports.ts';
import type { RunUsage } from '../judging/usage.ts';
import type { Recorder } from '../mocks/mocks.ts';
import { ForeignChat, type ForeignReply } from './chat.ts';
import { headersOf, settingsOf } from './rules.ts';

export interface ForeignParts {
  /** By which the agent may tell conversations apart. */
  readonly conversationId: string;
  readonly agent: TestAgentRow;
  readonly secrets: SecretBox;
  /** Where a chat completion's own count of its tokens goes. */
  readonly usage: Pick<RunUsage, 'add' | 'lacks'>;
  /** Answers the tools that a chat completion calls. */
  readonly recorder: Pick<Recorder, 'foreignTool' | 'toolCalls'>;
  readonly outgoing: OutgoingParts;
  readonly caller: Caller;
  /** The conversation ends after this many moves of the caller. */
  readonly maxTurns: number;
  readonly signal: AbortSignal;
  /** Called with each line as soon as it is said. */
  readonly onLine: (line: ChatLine) => void;
}

interface ForeignConversed {
  readonly record: ConversationRecord;
  readonly currentNodeId: null;
  readonly turnCount: number;
}

/** Rejects with ForeignAgentFailure when the agent gives no answer, with the reason of `signal` when that is aborted. */
export async function converseWithForeign(parts: ForeignParts): Promise<ForeignConversed> {
  const { agent, caller, conversationId, maxTurns, onLine, outgoing, recorder, secrets, signal, usage } =
    parts;
  const chat = new ForeignChat({
    settings: settingsOf(agent),
    headers: headersOf(agent, secrets),
    outgoing,
    conversationId,
    signal,
    usage,
    tool: recorder.foreignTool,
  });
  const lines: ChatLine[] = [];
  const add = (line: Pick<ChatLine, 'role' | 'content' | 'turn'>) => {
    const said = { ...line, node_id: null };
    lines.push(said);
    onLine(said);
  };
  let turn = 0;
  let heard: string[] = [];
  const take = ({ text, ended }: ForeignReply): Ending | null => {
    heard = text === '' ? [] : [text];
    if (text !== '') add({ role: 'assistant', content: text, turn });
    return ended ? { by: 'agent', reason: 'The agent ended the conversation.' } : null;
  };
  const opening = await chat.open();
  let ending = opening && take(opening);
  while (!ending) {
    signal.throwIfAborted();
    if (turn >= maxTurns) {
      ending = { by: 'max_turns', reason: `The turn limit of ${maxTurns} was reached.` };
      break;
    }
    const move = await caller.next({ history: lines, heard, movesLeft: maxTurns - turn }, signal);
    if (move.type === 'hangup') {
      ending = { by: 'caller', reason: move.reason };
      break;
    }
    turn++;
    const shown = shownMove(move);
    add({ role: 'user', content: shown, turn });
    // A chat has neither keys nor silence.
    ending = take(await chat.say(move.type === 'keys' ? move.keys : shown)) ?? leaving(move);
  }
  return { record: recordOf(lines, ending, recorder.toolCalls), currentNodeId: null, turnCount: turn };
}

function recordOf(
  lines: readonly ChatLine[],
  ending: Ending,
  tool_calls: ConversationRecord['tool_calls'],
): ConversationRecord {
  return {
    foreign: true,
    chat_history: lines,
    variables: {},
    nodes_visited: null,
    node_names: {},
    webhook_calls: [],
    tool_calls,
    log: [],
    ending,
  };
}
