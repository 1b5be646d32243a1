/** Prepares the conversation engine of an agent for text. */
import { builtInVariables } from '#shared/agent/built-in-variables.ts';
import { writtenLimits } from '#shared/agent/conversation-options.ts';
import type { ToolRunner } from '#shared/agent/interfaces.ts';
import { Conversation } from '#shared/agent/interpreter.ts';
import { PersonaConversation } from '#shared/agent/persona.ts';
import { pathwaysOf, type TextAgent } from './text-agent.ts';
import type { TextFacts, TextSessionParts, TextState } from './text-parts.ts';

/** Contract 9.1. */
const defaultTimezone = 'America/Los_Angeles';

/** @param state to resume a stored conversation @throws UnknownStartNode, LostPosition, GraphError */
export function talkOf(
  parts: TextSessionParts,
  tools: ToolRunner | null,
  agent: TextAgent,
  facts: TextFacts,
  state: TextState | undefined,
): Conversation | PersonaConversation {
  const { models, clock, seed, signal = new AbortController().signal } = parts;
  const { id, variables, timezone = defaultTimezone, from = '', to = '', source = 'chat' } = facts;
  const otherPathway = pathwaysOf(agent);
  // A test simulates a call.
  const limits = source === 'test' ? {} : writtenLimits;
  const common = {
    understanding: models.understanding,
    builtIns: () => builtInVariables({ from, to, callId: id, timezone, now: clock.now() }),
    now: () => clock.now(),
    otherPathway,
  };
  if (agent.kind === 'pathway') {
    const pathway = otherPathway(agent.pathwayId, agent.version);
    if (!pathway) throw new Error(`the graph of pathway ${agent.pathwayId} is not part of its agent`);
    const { startNodeId, firstSentence } = agent;
    return new Conversation({
      ...common,
      pathway,
      variables,
      startNodeId,
      firstSentence,
      limits,
      ...(state?.talk.kind === 'pathway' && { state: state.talk.state }),
    });
  }
  const { settings } = agent;
  return new PersonaConversation({
    ...common,
    model: models.dialogue,
    variables: { ...settings.request_data, ...variables },
    firstSentence: settings.first_sentence,
    // A widget's greeting is in the thread before anyone can write.
    waitsForGreeting: settings.wait_for_greeting && settings.first_sentence === null,
    pathwayLimits: limits,
    persona: {
      name: settings.name,
      role: settings.role,
      orchestration: settings.orchestration_prompt,
      personality: settings.personality_prompt,
      globalRules: '',
    },
    channel: 'chat',
    language: settings.language,
    temperature: settings.temperature ?? null,
    transfers: settings.transfer_list ?? {},
    pathways: settings.pathway_conditions.map((condition) => ({
      name: condition.name,
      prompt: condition.prompt,
      pathwayId: condition.pathway_id,
      pathwayVersion: condition.pathway_version,
      startNodeId: condition.start_node_id,
    })),
    tools,
    signal,
    ...(seed !== undefined && { seed }),
    ...(state?.talk.kind === 'persona' && { state: state.talk.state }),
  });
}
