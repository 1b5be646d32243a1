import type { ConversationOptions, LoadedPathway } from '#shared/agent/conversation-options.ts';
import type { Understanding } from '#shared/agent/interfaces.ts';
import { Conversation } from '#shared/agent/interpreter.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { AgentHost, CallFacts } from '../call/ports/agents.ts';
import type { CopyTalk } from './asking-ahead.ts';
import { callVariables } from './call-variables.ts';
import { TalkingAgent } from './talking-agent.ts';
import type { TalkingDeps } from './talking-deps.ts';

export type PathwaySettings = Extract<AgentSettings, { kind: 'pathway' }>;

export interface PathwayAgentDeps extends TalkingDeps {
  /** A loaded pathway of the call's organization; undefined when there is none. @throws GraphError */
  readonly pathway: (id: string, version: number) => LoadedPathway | undefined;
  readonly understanding: Understanding;
}

/** An agent that follows a pathway. */
export function pathwayAgent(
  settings: PathwaySettings,
  call: CallFacts,
  host: AgentHost,
  deps: PathwayAgentDeps,
): TalkingAgent {
  const { clock, limits, understanding, pathway } = deps;
  const options = (): ConversationOptions => {
    const { pathway_id: id, pathway_version: version, start_node_id, first_sentence } = settings;
    const loaded = pathway(id, version);
    if (!loaded) throw new Error(`Pathway ${id} version ${version} is not in the edge's configuration`);
    return {
      pathway: loaded,
      understanding,
      ...callVariables(settings, call, () => clock.now()),
      startNodeId: start_node_id,
      firstSentence: first_sentence === '' ? null : first_sentence,
      otherPathway: pathway,
      limits: { listenMs: limits.listenMs, repeats: limits.repeats, realtime: true },
    };
  };
  let used: ConversationOptions | null = null;
  // Webhooks, tools and transfers are actions, which only the conversation that is taken carries out.
  const copy: CopyTalk = (talk) =>
    used && talk instanceof Conversation
      ? new Conversation({ ...used, state: talk.snapshot(), account: talk })
      : null;
  const begin = () => {
    used = options();
    return new Conversation(used);
  };
  return new TalkingAgent(settings, host, deps, begin, copy);
}
