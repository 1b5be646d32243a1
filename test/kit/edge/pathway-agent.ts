/** A pathway agent in a call that the test drives. */
import type { Understanding } from '#shared/agent/interfaces.ts';
import { FakeClock } from '#shared/clock.ts';
import type { CodecName } from '#shared/codecs.ts';
import type { RealtimeConnection } from '#shared/edge-protocol/agents.ts';
import type { PathwayConfig } from '#shared/edge-protocol/config.ts';
import { ruleDialogue } from '#shared/models/rule-dialogue.ts';
import type { SpeechToText, TextToSpeech } from '#shared/models/speech.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import type { Pronunciation } from '#shared/pronunciation-entry.ts';
import { type AgentsDeps, createAgents } from '../../../edge/agent/agents.ts';
import type { PathwaySettings } from '../../../edge/agent/pathway-agent.ts';
import { loudVoices } from '../ears/loud-voices.ts';
import { call, countingVoice, manner, RecordingHost, RecordingLog, ruleModels, settle } from './agent.ts';

export const node = (id: string, type: string, data: object) => ({ id, type, data: { name: id, ...data } });
export const edge = (source: string, target: string, label: string) => ({ source, target, data: { label } });

export const menu: PathwayConfig = {
  pathway_id: '33333333-3333-4333-8333-333333333333',
  version: 0,
  org_id: call.orgId,
  name: 'Menu',
  nodes: [
    node('menu', 'Default', { isStart: true, text: 'Press 1, 2 or 3.' }),
    node('account', 'Default', { text: 'Account?', extractVars: [['account', 'integer', 'account number']] }),
    node('thanks', 'End Call', { text: 'Thanks {{account}}.' }),
    node('transfer', 'Transfer Call', {
      text: 'One moment.',
      transferNumber: '{{desk}}',
      transferMethod: 'refer',
      transferAnnouncement: 'A call of {{from}}. Press 1.',
      transferAcceptKey: '1',
    }),
    node('sorry', 'End Call', { text: 'Sorry.' }),
    node('dial', 'Press Button', { digits: '42#' }),
  ],
  edges: [
    edge('menu', 'account', 'press 1 for your account'),
    edge('menu', 'transfer', 'press two'),
    edge('menu', 'dial', '3'),
    edge('account', 'thanks', 'entered'),
    edge('transfer', 'sorry', 'failure'),
    edge('dial', 'sorry', 'done'),
  ],
};

interface Setup {
  readonly settings?: Partial<PathwaySettings>;
  readonly tts?: TextToSpeech;
  readonly stt?: SpeechToText;
  readonly transcriber?: AgentsDeps['transcriber'];
  readonly clock?: FakeClock;
  readonly config?: PathwayConfig;
  readonly understanding?: Understanding;
  /** Whether the call has telephone-event. */
  readonly keys?: boolean;
  /** Of the organization; their servers are on this machine. */
  readonly realtime?: RealtimeConnection[];
  readonly tools?: AgentsDeps['tools'];
  readonly webhook?: AgentsDeps['webhook'];
  readonly codec?: CodecName;
  readonly pronunciations?: Pronunciation[];
  /** Of the organization. */
  readonly keyTerms?: string[];
}

export function setUp({
  settings = {},
  tts = countingVoice,
  stt,
  transcriber,
  clock = new FakeClock(),
  config = menu,
  keys = true,
  keyTerms = [],
  understanding,
  realtime,
  tools,
  webhook,
  codec,
  pronunciations,
}: Setup = {}) {
  const host = new RecordingHost();
  host.keys = keys;
  const log = new RecordingLog();
  let ids = 0;
  const deps: AgentsDeps = {
    pathways: (id, version) => (id === config.pathway_id && version === config.version ? config : undefined),
    organization: () => ({
      org_id: call.orgId,
      signing_secret: 'ab',
      key_terms: keyTerms,
      ...(realtime && { realtime }),
      ...(pronunciations && { pronunciations }),
    }),
    models: understanding ? { agent: () => ({ understanding, dialogue: ruleDialogue }) } : ruleModels,
    tts,
    stt: stt ?? null,
    transcriber,
    voices: loudVoices,
    clock,
    log,
    newId: () => `id-${++ids}`,
    allowedTargets: () => parseNetworks(realtime ? ['127.0.0.1'] : []),
    ...(realtime && { resolve: async () => ['127.0.0.1'] }),
    ...(tools && { tools }),
    ...(webhook && { webhook }),
  };
  const agent = createAgents(deps).create(
    {
      kind: 'pathway',
      pathway_id: config.pathway_id,
      pathway_version: 0,
      start_node_id: null,
      ...manner,
      ...settings,
    },
    { ...call, ...(codec && { codec }) },
    host,
  );
  const press = async (keys: string) => {
    for (const digit of keys) agent.dtmf?.({ digit, durationMs: 100 });
    await settle();
  };
  const begin = async () => {
    await agent.prepare();
    agent.start();
    await settle();
  };
  const pass = async (ms: number) => {
    clock.advance(ms);
    await settle();
  };
  return { agent, clock, host, log, press, begin, pass };
}

export function hear(write: ((frame: Int16Array) => void) | undefined, level: number, frames: number): void {
  const frame = new Int16Array(160).map((_, i) => (i % 8 < 4 ? level : -level));
  for (let i = 0; i < frames; i++) write?.(frame);
}
