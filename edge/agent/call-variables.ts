import { builtInVariables } from '#shared/agent/built-in-variables.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { CallFacts } from '../call/ports/agents.ts';

/** Initial variables of a conversation on a call. */
export function callVariables(settings: AgentSettings, call: CallFacts, now: () => number) {
  const { from, to, callId, variables } = call;
  const { timezone, request_data } = settings;
  return {
    variables: { ...request_data, ...variables },
    builtIns: () => builtInVariables({ from, to, callId, timezone, now: now() }),
    now,
  };
}
