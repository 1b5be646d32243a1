/** Creates the agents, with their speech synthesis and recognition, with the settings of this edge. */
import { newId } from '#shared/ids.ts';
import type { SpeechToText, TextToSpeech } from '#shared/models/speech.ts';
import { withTrustedAuthorities } from '#shared/trusted-authorities.ts';
import type { AgentsDeps } from '../agent/agents.ts';
import { Silero } from '../agent/ears/silero.ts';
import { TwoStageDetectors } from '../agent/ears/two-stage-detector.ts';
import { WebrtcDetectors } from '../agent/ears/webrtc-detector.ts';
import { createToolClient } from '../agent/tool-client.ts';
import type { CurrentConfig } from '../current-config.ts';
import { clock, type EdgeContext } from './context.ts';

export interface Speech {
  readonly tts: TextToSpeech;
  /** null: agents recognize only key presses. */
  readonly stt: SpeechToText | null;
  readonly transcriber: AgentsDeps['transcriber'];
  readonly voices: TwoStageDetectors;
}

/** What detects the voices of callers in this thread. */
export function voicesOf({ log, metrics }: Pick<EdgeContext, 'log' | 'metrics'>): TwoStageDetectors {
  const silero = new Silero(clock, log.child({ part: 'ears' }));
  metrics.gauge('trunkline_edge_voice_detector_failed', () =>
    Number(silero.state === 'failed' || silero.state === 'resting'),
  );
  return new TwoStageDetectors(new WebrtcDetectors(), silero);
}

/** What agents need of a context; a media shard has no more of it. */
export type AgentContext = Pick<
  EdgeContext,
  'limits' | 'log' | 'metrics' | 'controlUrl' | 'edgeToken' | 'privateAuthority' | 'tracing'
> & { readonly current: Pick<CurrentConfig, 'pathway' | 'organization' | 'allowedTargets'> };

export function agentDeps(
  context: AgentContext,
  { tts, stt, transcriber, voices }: Speech,
  models: AgentsDeps['models'],
): AgentsDeps {
  const { limits, log, metrics, current, controlUrl, edgeToken, privateAuthority, tracing } = context;
  return {
    pathways: current.pathway,
    organization: current.organization,
    models,
    tools: createToolClient({ controlUrl, edgeToken, clock, tracing: tracing ?? undefined }),
    tts,
    stt,
    transcriber,
    voices,
    clock,
    log,
    newId,
    allowedTargets: current.allowedTargets,
    talkLimits: limits.talk,
    consultLimits: limits.consult,
    answeringLimits: limits.answering,
    held: () => metrics.count('trunkline_edge_servers_held_total'),
    ...(tracing && { tracing }),
    answered: (who) => metrics.count('trunkline_edge_answered_by_total', { who }),
    ...(privateAuthority === null ? {} : { ca: withTrustedAuthorities([privateAuthority]) }),
  };
}
