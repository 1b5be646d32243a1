/** Creates the agent of a call from its settings. */

import type { BlockList } from 'node:net';
import { builtInVariables } from '#shared/agent/built-in-variables.ts';
import type { Talk } from '#shared/agent/conversation.ts';
import type { LoadedPathway } from '#shared/agent/conversation-options.ts';
import { type Graph, loadGraph } from '#shared/agent/graph.ts';
import type { ToolRunner } from '#shared/agent/interfaces.ts';
import type { PathwayTool } from '#shared/agent/node-tools.ts';
import { Pronouncer } from '#shared/agent/pronunciation.ts';
import { fillTemplate } from '#shared/agent/template.ts';
import type { Answerer } from '#shared/answerer.ts';
import type { Clock } from '#shared/clock.ts';
import type { AgentTool } from '#shared/edge-protocol/agents.ts';
import type { OrgConfig, PathwayConfig } from '#shared/edge-protocol/config.ts';
import type { NewId } from '#shared/ids.ts';
import { type ResolveHost, systemAddresses } from '#shared/judged-lookup.ts';
import { keyTermsOf } from '#shared/key-terms.ts';
import type { Tracing } from '#shared/tracing/tracing.ts';
import type { Log } from '../call/log.ts';
import type { Agents, CallFacts } from '../call/ports/agents.ts';
import { type AnsweringLimits, answeringLimits } from './answering/limits.ts';
import { ConsultAgent } from './consult-agent.ts';
import type { VoiceDetectors } from './ears/voice-detector.ts';
import { WebrtcDetectors } from './ears/webrtc-detector.ts';
import { EchoAgent } from './echo-agent.ts';
import { holdMusic } from './hold-music.ts';
import { type ConsultLimits, consultLimits } from './limits.ts';
import { pathwayAgent } from './pathway-agent.ts';
import { personaAgent } from './persona-agent.ts';
import { modelServer } from './realtime/model-server.ts';
import { NodeSession } from './realtime/node-session.ts';
import { RealtimeAgent } from './realtime/realtime-agent.ts';
import { type RealtimeLimits, realtimeLimits } from './realtime/realtime-limits.ts';
import { ringback } from './ringback.ts';
import { StreamAgent } from './stream-agent.ts';
import { type StreamLimits, streamLimits } from './stream-link.ts';
import { type TalkLimits, talkLimits } from './talk-limits.ts';
import type { TalkingDeps } from './talking-deps.ts';
import { timedModels } from './timed-models.ts';
import { ToneAgent } from './tone-agent.ts';
import { type Servers, tracedServers } from './traced-servers.ts';
import { TurnTimes } from './turn-times.ts';
import { pronouncedVoice } from './voice/pronounced-voice.ts';
import { watchVoicemail } from './voicemail-watch.ts';
import { createWebhookClient, type WebhookClient } from './webhook-client.ts';

export interface AgentsDeps extends Omit<Servers, 'webhook'> {
  readonly pathways: (id: string, version: number) => PathwayConfig | undefined;
  readonly organization: (id: string) => OrgConfig | undefined;
  /** Runs the tools of a call; absent: agents have no tools. */
  readonly tools?: (tools: readonly AgentTool[], call: CallFacts) => ToolRunner;
  /** Sends the requests of Webhook nodes; default: to checked addresses only. */
  readonly webhook?: WebhookClient;
  /** See TalkingDeps. */
  readonly watched?: (talk: Talk) => void;
  /** A text was stopped before its end. @param id of its transcript entry @param heard its words that were played */
  readonly cutOff?: (id: string, heard: string) => void;
  /** Detects the voices of callers; default: WebRTC's detector. */
  readonly voices?: VoiceDetectors;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  /** Private networks that may be contacted, as currently configured (contract 1.9). */
  readonly allowedTargets: () => BlockList;
  /** Default: the system's. */
  readonly resolve?: ResolveHost;
  /** PEM of the certificate authorities for stream sockets and webhooks; absent: Node's. */
  readonly ca?: string | string[] | undefined;
  readonly talkLimits?: Partial<TalkLimits>;
  readonly streamLimits?: Partial<StreamLimits>;
  readonly realtimeLimits?: Partial<RealtimeLimits>;
  readonly consultLimits?: Partial<ConsultLimits>;
  readonly answeringLimits?: Partial<AnsweringLimits>;
  /** Absent: no traces. */
  readonly tracing?: Tracing;
  /** Called each time a customer's server is held back because it sends more than is read. */
  readonly held?: () => void;
  /** Called once for each outbound call with voicemail detection, when the result is known. */
  readonly answered?: (who: Answerer) => void;
}

export function createAgents(deps: AgentsDeps): Agents {
  const { clock, newId, ca } = deps;
  const resolve = deps.resolve ?? systemAddresses;
  const webhook = deps.webhook ?? createWebhookClient({ allowed: deps.allowedTargets, resolve, clock, ca });
  const load = pathwayLoader(deps.pathways);
  const voices = deps.voices ?? new WebrtcDetectors();
  const pronouncerOf = ({ orgId }: CallFacts) =>
    new Pronouncer(deps.organization(orgId)?.pronunciations ?? []);
  const make: Agents['create'] = (settings, call, host) => {
    const log = deps.log.child({ call_id: call.callId, trunk_id: call.trunkId, agent: settings.kind });
    const times = new TurnTimes(host, clock);
    const untraced = { ...deps, webhook };
    const servers = deps.tracing ? tracedServers(untraced, call, deps.tracing) : untraced;
    const ofNodes = nodeTools(deps, call);
    const organization = deps.organization(call.orgId);
    const ofModel = (connection: string) => ({
      ...modelServer(organization, connection),
      allowed: deps.allowedTargets,
      resolve,
      ca,
      clock,
      log,
      newId,
      tts: servers.tts,
      limits: { ...realtimeLimits, ...deps.realtimeLimits },
      held: deps.held,
    });
    const openModel: TalkingDeps['realtime'] = (order, parts) => {
      const tools = ofNodes.runner(order.tools);
      return new NodeSession(order, { ...parts, call, deps: { ...ofModel(order.connection), tools } });
    };
    const talking = {
      pathway: (id: string, version: number) => {
        ofNodes.learn(deps.pathways(id, version)?.tools ?? []);
        return load(call.orgId, id, version);
      },
      tts: servers.tts,
      stt: servers.stt,
      transcriber: servers.transcriber,
      keyTerms: keyTermsOf(settings.key_terms ?? [], deps.organization(call.orgId)?.key_terms ?? []),
      voices,
      webhook: servers.webhook,
      tool: ofNodes.run,
      pronouncer: pronouncerOf(call),
      realtime: organization?.realtime?.length ? openModel : undefined,
      clock,
      log,
      newId,
      sampleRate: rateFor(call.codec),
      limits: { ...talkLimits, ...deps.talkLimits },
      watched: deps.watched,
      cutOff: deps.cutOff,
      times,
    };
    const models = () => {
      const made = servers.models.agent({
        model: settings.model,
        temperature: settings.temperature,
        onFailure: 'rules',
        failed: (error) => log.warn({ err: error }, 'falling back from the language model to rules'),
      });
      return timedModels(made, times);
    };
    switch (settings.kind) {
      case 'echo':
        return new EchoAgent();
      case 'tone':
        return new ToneAgent(settings.frequency_hz);
      case 'test_caller':
        throw new Error('only a test run has a simulated caller');
      case 'stream': {
        if (!organization) throw new Error(`Organization ${call.orgId} is not in the edge's configuration`);
        return new StreamAgent(settings, call, host, {
          signingSecret: organization.signing_secret,
          allowed: deps.allowedTargets,
          resolve,
          ca,
          clock,
          log,
          newId,
          limits: { ...streamLimits, ...deps.streamLimits },
          held: deps.held,
        });
      }
      case 'realtime': {
        const tools = settings.tools?.length ? (deps.tools?.(settings.tools, call) ?? null) : null;
        return new RealtimeAgent(settings, call, host, { ...ofModel(settings.connection_id), tools });
      }
      case 'pathway':
        return pathwayAgent(settings, call, host, {
          ...talking,
          understanding: models().understanding,
        });
      case 'task':
      case 'persona': {
        const tools = settings.tools?.length ? (deps.tools?.(settings.tools, call) ?? null) : null;
        return personaAgent(settings, call, host, { ...talking, models: models(), tools });
      }
    }
  };
  return {
    create(settings, call, host) {
      const log = deps.log.child({ call_id: call.callId, trunk_id: call.trunkId, agent: settings.kind });
      const { voicemail } = call;
      if (!voicemail || call.direction !== 'outbound') return make(settings, call, host);
      const { voice, language, timezone } = settings;
      const tts = pronouncedVoice(deps.tts, pronouncerOf(call));
      const message = voicemail.message && filled(voicemail.message, call, timezone, clock.now());
      return watchVoicemail({ ...voicemail, message }, (gate) => make(settings, call, gate), host, {
        clock,
        log,
        newId,
        limits: { ...answeringLimits, ...deps.answeringLimits },
        voices,
        answered: (who) => deps.answered?.(who),
        synthesize: (text, sampleRate) => tts.synthesize(text, { voice, language, sampleRate }),
      });
    },
    consult(order, call, host, { voice, language } = { voice: null, language: 'en-US' }) {
      const limits = { ...consultLimits, ...deps.consultLimits };
      const tts = pronouncedVoice(deps.tts, pronouncerOf(call));
      return new ConsultAgent(order, host, { tts, voice, language, clock, newId, limits });
    },
    waiting: ringback,
    music: holdMusic,
  };
}

/** Hz: what a caller can hear and say. */
function rateFor(codec: CallFacts['codec']): 8000 | 16000 {
  return codec === 'Opus' || codec === 'G.722' ? 16_000 : 8000;
}

/** Runs the tools of a call's pathway nodes. */
function nodeTools(deps: Pick<AgentsDeps, 'tools'>, call: CallFacts) {
  const known = new Map<string, AgentTool>();
  const run: TalkingDeps['tool'] = async ({ toolId, name, inputs, variables }, signal) => {
    const tool = known.get(toolId);
    const runner = tool && deps.tools?.([tool], call);
    if (runner) return runner.run(name, inputs, signal, variables);
    return { ok: false, data: null, error: 'no tools can be run here', variables: {} };
  };
  /** null: none of them is there */
  const runner = (ids: readonly string[]): ToolRunner | null => {
    const tools = ids.flatMap((id) => known.get(id) ?? []);
    return tools.length === 0 ? null : (deps.tools?.(tools, call) ?? null);
  };
  /** Adds the tools of a pathway that the call has entered. */
  const learn = (tools: readonly AgentTool[]) => {
    for (const tool of tools) known.set(tool.tool_id, tool);
  };
  return { run, runner, learn };
}

/** Loads a pathway once for all calls with the same configuration of it. */
function pathwayLoader(pathways: AgentsDeps['pathways']) {
  const graphs = new WeakMap<PathwayConfig, Graph>();
  return (orgId: string, id: string, version: number): LoadedPathway | undefined => {
    const config = pathways(id, version);
    if (!config || config.org_id !== orgId) return undefined;
    let graph = graphs.get(config);
    if (!graph) {
      graph = loadGraph(config.nodes, config.edges);
      graphs.set(config, graph);
    }
    return { pathwayId: id, graph, tools: (config.tools ?? []).map(pathwayTool) };
  };
}

function pathwayTool({ tool_id: toolId, name, description, input_schema, speech }: AgentTool): PathwayTool {
  return {
    toolId,
    name,
    description,
    inputSchema: input_schema ?? { type: 'object', properties: {} },
    speech,
  };
}

/** Fills the variables into a text from the call's order. @param now ms */
function filled(text: string, call: CallFacts, timezone: string, now: number): string {
  const { from, to, callId, variables } = call;
  return fillTemplate(text, { ...variables, ...builtInVariables({ from, to, callId, timezone, now }) });
}
