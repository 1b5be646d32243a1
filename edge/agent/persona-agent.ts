import type { LoadedPathway } from '#shared/agent/conversation-options.ts';
import type { ToolRunner } from '#shared/agent/interfaces.ts';
import { PersonaConversation } from '#shared/agent/persona.ts';
import type { PersonaText } from '#shared/agent/persona-prompt.ts';
import type { PathwayEntry } from '#shared/agent/persona-tools.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { AgentModels } from '#shared/models/models.ts';
import type { AgentHost, CallFacts } from '../call/ports/agents.ts';
import type { CopyTalk } from './asking-ahead.ts';
import { callVariables } from './call-variables.ts';
import { TalkingAgent } from './talking-agent.ts';
import type { TalkingDeps } from './talking-deps.ts';

type PersonaSettings = Extract<AgentSettings, { kind: 'persona' | 'task' }>;

export interface PersonaAgentDeps extends TalkingDeps {
  readonly pathway: (id: string, version: number) => LoadedPathway | undefined;
  readonly models: AgentModels;
  /** null: the call has no tools */
  readonly tools: ToolRunner | null;
}

const defaultTemperature = 0.7;

/** An agent that talks freely, from a persona or a task (contract 9.1 and 12). */
export function personaAgent(
  settings: PersonaSettings,
  call: CallFacts,
  host: AgentHost,
  deps: PersonaAgentDeps,
): TalkingAgent {
  const { clock, models, tools, pathway, limits } = deps;
  const { first_sentence, language, temperature = defaultTemperature, transfer_list = {} } = settings;
  const options = (over: AbortSignal) => ({
    ...callVariables(settings, call, () => clock.now()),
    persona: textOf(settings),
    pathways: pathwayEntries(settings),
    model: models.dialogue,
    understanding: models.understanding,
    channel: 'call' as const,
    keysPossible: () => host.keysPossible(),
    language,
    temperature,
    firstSentence: first_sentence,
    transfers: transfer_list,
    tools,
    otherPathway: pathway,
    signal: over,
    limits: { listenMs: limits.listenMs, repeats: limits.repeats, apologies: 1 },
    pathwayLimits: { realtime: true },
  });
  let over = new AbortController().signal;
  const copy: CopyTalk = (talk, taken) => {
    // In a pathway the next step is decided by its graph, mostly without the model.
    if (!(talk instanceof PersonaConversation) || talk.visits.length > 0) return null;
    const later = tools && afterwards(tools, taken);
    return new PersonaConversation({ ...options(over), tools: later, state: talk.snapshot(), log: talk.log });
  };
  return new TalkingAgent(
    settings,
    host,
    deps,
    (signal) => {
      over = signal;
      return new PersonaConversation(options(signal));
    },
    copy,
  );
}

/** The tools, which run once `taken` has resolved. */
function afterwards(tools: ToolRunner, taken: Promise<void>): ToolRunner {
  return {
    list: () => tools.list(),
    run: async (...order) => {
      await taken;
      return tools.run(...order);
    },
  };
}

function textOf(settings: PersonaSettings): PersonaText {
  if (settings.kind === 'task') {
    return { name: '', role: '', orchestration: settings.task, personality: '', globalRules: '' };
  }
  const { name, role, orchestration_prompt: orchestration, personality_prompt: personality } = settings;
  return { name, role, orchestration, personality, globalRules: '' };
}

function pathwayEntries(settings: PersonaSettings): PathwayEntry[] {
  if (settings.kind === 'task') return [];
  return settings.pathway_conditions.map((condition) => ({
    name: condition.name,
    prompt: condition.prompt,
    pathwayId: condition.pathway_id,
    pathwayVersion: condition.pathway_version,
    startNodeId: condition.start_node_id,
  }));
}
