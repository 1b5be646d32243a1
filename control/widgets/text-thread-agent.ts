/** Answers threads with pathways and personas, through the conversation engine that calls use. */
import { builtInVariables } from '#shared/agent/built-in-variables.ts';
import type { Variables } from '#shared/agent/interfaces.ts';
import { newState } from '#shared/agent/persona-state.ts';
import { fillTemplate } from '#shared/agent/template.ts';
import {
  pathwaysOf,
  pathwayTextAgent,
  personaTextAgent,
  type TextAgent,
  TextSession,
  type TextSessionParts,
  type TextState,
} from '../conversations/index.ts';
import { type Db, fromJson, toJson } from '../db/index.ts';
import type { AgentSource, Answered, AnswerRequest, NewConversation, ThreadAgent } from './thread-agent.ts';

/** Contract 9.1. */
const timezone = 'America/Los_Angeles';

/** A thread's initial facts. */
interface Facts {
  readonly variables: Variables;
  /** Whether the thread's first message is the agent's first words, which are not to be repeated. */
  readonly opened: boolean;
}

export function textThreadAgent(parts: TextSessionParts): ThreadAgent {
  return {
    begin: async (db, conversation) => {
      const agent = await agentOf(db, conversation.source, conversation.greeting);
      const { opening, opened } = firstWords(agent, conversation, parts.clock.now());
      const facts: Facts = { variables: conversation.variables, opened };
      return { agent: toJson(agent), facts: toJson(facts), opening };
    },
    answer: (request) => answer(parts, request),
  };
}

async function agentOf(db: Db, source: AgentSource, greeting: string | null): Promise<TextAgent> {
  const { orgId, pathwayId, pathwayVersion, personaId } = source;
  if (pathwayId !== null) {
    const version = versionOf(pathwayVersion);
    return pathwayTextAgent(db, orgId, { pathwayId, version, firstSentence: greeting });
  }
  const agent = await personaTextAgent(db, orgId, personaId ?? '');
  return { ...agent, settings: { ...agent.settings, first_sentence: greeting } };
}

function versionOf(stored: string | null): number | 'production' | 'staging' | undefined {
  if (stored === null) return undefined;
  return stored === 'production' || stored === 'staging' ? stored : Number(stored);
}

/** The greeting, else the start node's fixed words (contract 7.2). */
function firstWords(
  agent: TextAgent,
  { greeting, threadId, variables }: NewConversation,
  now: number,
): { opening: string | null; opened: boolean } {
  const fill = (text: string): string | null => {
    const builtIns = builtInVariables({ from: '', to: '', callId: threadId, timezone, now });
    return fillTemplate(text, { ...variables, ...builtIns }).trim() || null;
  };
  if (agent.kind === 'persona') {
    const opening = fill(greeting ?? '');
    return { opening, opened: opening !== null };
  }
  const start = pathwaysOf(agent)(agent.pathwayId, agent.version)?.graph.start;
  // Such a node says nothing; a greeting then comes before the pathway.
  const silent = start?.type === 'Wait for Response';
  const opening = fill(greeting ?? (silent ? '' : (start?.text ?? '')));
  return { opening, opened: opening !== null && !silent };
}

async function answer(parts: TextSessionParts, request: AnswerRequest): Promise<Answered> {
  const { signal, state, text, threadId } = request;
  const agent = fromJson<TextAgent>(request.agent);
  const { opened, variables } = fromJson<Facts>(request.facts);
  const session = new TextSession(
    { ...parts, signal },
    withoutSilentGreeting(agent, opened),
    { id: threadId, variables, timezone, source: 'widget' },
    state === null ? freshState(agent, opened) : fromJson<TextState>(state),
  );
  const onPiece = pieceSender(agent, request);
  const messages: string[] = [];
  if (state === null && (agent.kind === 'pathway' || opened)) {
    // The first words are already in the thread.
    let known = opened;
    const { messages: first } = await session.open((piece) => {
      if (known) known = false;
      else onPiece(piece);
    });
    messages.push(...(opened ? first.slice(1) : first));
  }
  if (!session.completed) messages.push(...(await session.step(text, onPiece)).messages);
  return { messages, state: toJson(session.state), ended: session.completed };
}

/** A greeting before a silent start node must not replace the words of the node after it. */
function withoutSilentGreeting(agent: TextAgent, opened: boolean): TextAgent {
  return agent.kind === 'pathway' && !opened ? { ...agent, firstSentence: null } : agent;
}

/** A persona that says nothing first waits for the visitor; asking the model for first words would be too late. */
function freshState(agent: TextAgent, opened: boolean): TextState | undefined {
  if (agent.kind === 'pathway' || opened) return undefined;
  const state = { ...newState(), phase: 'listening' as const };
  return { talk: { kind: 'persona', state }, node: null, completed: false };
}

/** Each text of a pathway is a separate message; those of a persona are sentences of one. */
function pieceSender(agent: TextAgent, { onPart }: AnswerRequest): (piece: string) => void {
  let pieces = 0;
  return (piece) => {
    if (agent.kind === 'pathway') onPart({ message: pieces, text: piece });
    else onPart({ message: 0, text: pieces === 0 ? piece : ` ${piece}` });
    pieces++;
  };
}
