/** Creates the agents with the settings of this edge. */
import { rootCertificates } from 'node:tls';
import { newId } from '#shared/ids.ts';
import type { AgentsDeps } from '../agent/agents.ts';
import { createToolClient } from '../agent/tool-client.ts';
import { clock, type Ground } from './ground.ts';
import type { Speech } from './speech.ts';

export function agentDeps(ground: Ground, { tts, stt }: Speech, models: AgentsDeps['models']): AgentsDeps {
  const { limits, log, metrics, current, controlUrl, edgeToken, privateAuthority } = ground;
  return {
    pathways: current.pathway,
    organization: current.organization,
    models,
    tools: createToolClient({ controlUrl, edgeToken, clock }),
    tts,
    stt,
    clock,
    log,
    newId,
    allowedTargets: current.allowedTargets,
    talkLimits: limits.talk,
    consultLimits: limits.consult,
    answeringLimits: limits.answering,
    answered: (who) => metrics.count('trunkline_edge_answered_by_total', { who }),
    ...(privateAuthority === null ? {} : { ca: [...rootCertificates, privateAuthority] }),
  };
}
