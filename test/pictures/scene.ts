/**
 * A deployment to be pictured: the demo organization of `npm run seed-demo`, an edge that is played and reports calls,
 * trunks and refused callers to it, and test runs that are really run. All data is made up.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NumberConfigurations } from '#shared/api/sip.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { RefusedInvites } from '#shared/edge-protocol/refused.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { terminations } from '#shared/termination.ts';
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import { type ConsoleScene, runToEnd, seedConsoleScene } from '../kit/control/console-scene.ts';
import { callRecord, EdgeClient, reportFrame } from '../kit/control/edge-client.ts';
import { sealedFor, sendRecordingTo } from '../kit/control/recording-of-edge.ts';
import { refusedInvites } from '../kit/control/refused-invites.ts';
import { Api } from '../kit/programs/api.ts';
import type { ControlProgram } from '../kit/programs/control-program.ts';
import { uuid } from '../kit/uuid.ts';
import * as conversation from './conversation.ts';

const root = join(import.meta.dirname, '..', '..');
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Reports in a frame. */
const framed = 100;

export interface Scene {
  readonly key: string;
  readonly api: Api;
  readonly edge: EdgeClient;
  readonly number: string;
  readonly call: string;
  /** Of the demo organization. */
  readonly pathway: string;
  readonly widget: string;
  readonly desk: ConsoleScene;
  readonly run: string;
  readonly watch: string;
  /** The edge says that it has the newest configuration. */
  applied(): void;
  report(bodies: readonly ReportBody[]): Promise<void>;
  /** Words in the calls that are in progress. */
  speak(): Promise<void>;
}

/** @param control not started yet */
export async function makeScene(control: ControlProgram): Promise<Scene> {
  // The first start makes the database.
  await control.start();
  await control.end('SIGTERM');
  const env = { ...process.env, TRUNKLINE_DATA: control.folder, NODE_NO_WARNINGS: '1' };
  await promisify(execFile)(process.execPath, [join(root, 'control', 'seed-demo.ts')], { env });
  await control.start();
  const { org_id, api_key, made } = JSON.parse(readFileSync(join(control.folder, 'demo.json'), 'utf8'));
  const api = new Api(control.url, api_key);
  const link = `${control.url.replace('http', 'ws')}/v1/edge/link`;
  const edge = await EdgeClient.connect(link, control.keys.edge_token);
  let seq = 1;
  const report = async (bodies: readonly ReportBody[]) => {
    for (let at = 0; at < bodies.length; at += framed) {
      const part = bodies.slice(at, at + framed);
      edge.send(reportFrame(seq, part, new Date().toISOString()));
      seq += part.length;
      await edge.next('ack');
    }
  };
  const number = String(made.agents).split(',')[0] ?? '';
  const desk = await seedConsoleScene(api);
  const trunkId = await moveTrunk(api, number);
  const watch = await watched(api, desk.pathway);
  const of = { number, trunk_id: trunkId, pathway_id: desk.pathway, agent_kind: 'pathway' };
  const now = Date.now();
  await report([
    ...judgedCalls(org_id, now, of),
    ...formerCalls(org_id, now, of),
    ...probes(trunkId, now),
    { type: 'refused', refused: refused(org_id, number, now) },
  ]);
  const call = conversation.pictured(org_id, now, { ...of, to: number, pathway_version: 2 });
  await recordingOf(control, edge, call);
  await report([
    { type: 'call', call },
    { type: 'transcript', call_id: call.id, entries: conversation.transcript(call) },
    { type: 'measured', calls: [conversation.measured(call)] },
    { type: 'trace', call_id: call.id, messages: conversation.trace(call), truncated: false },
  ]);
  const live = liveCalls(org_id, Date.now(), of);
  await report(live.map((one) => ({ type: 'call', call: one })));
  return {
    ...{ key: api_key, api, edge, number, call: call.id, desk, watch, report },
    pathway: made.pathway,
    widget: await makeWidget(api, desk.pathway),
    run: await runTests(api, desk),
    applied: () => {
      for (const frame of edge.untaken)
        if (frame.type === 'change') edge.send({ type: 'applied', version: frame.change.version });
    },
    speak: () => report(live.flatMap(words)),
  };
}

async function recordingOf(control: ControlProgram, edge: EdgeClient, call: CallRecord): Promise<void> {
  const { config } = await edge.next('config');
  const key = config.organizations.find(({ org_id }) => org_id === call.org_id)?.recording;
  if (!key) throw new Error('there is no recording key');
  const { sound, soundFrames } = conversation;
  const parts = { orgId: call.org_id, more: soundFrames - 150, sound };
  const recording = sealedFor(key, Date.parse(call.answered_at ?? ''), call.id, parts);
  await sendRecordingTo(control.url, control.keys.edge_token, recording);
}

/** Both scenarios on both versions. @returns the run that is pictured */
async function runTests(api: Api, { books, hours }: ConsoleScene): Promise<string> {
  for (const version of [1, 2]) await runToEnd(api, hours, version);
  let last = '';
  for (const seed of [1, 2, 3, 4]) {
    await runToEnd(api, books, 1, seed);
    last = await runToEnd(api, books, 2, seed);
  }
  return last;
}

async function watched(api: Api, pathway_id: string): Promise<string> {
  const { text } = await api.ok('POST', '/v1/agent-testing/watches', {
    name: 'Bookings at the front desk',
    pathway_id,
    drift_min_calls: 8,
    assertions: [
      { type: 'STRING_CHECK', name: 'Names the day', config: { target: 'agent', value: 'You are booked' } },
    ],
  });
  return String(JSON.parse(text).id);
}

async function makeWidget(api: Api, pathway_id: string): Promise<string> {
  const config = { allowedOrigins: ['https://shop.example.com'] };
  const { text } = await api.ok('POST', '/v1/widget', { name: 'Front desk', pathway_id, config });
  return String(JSON.parse(text).data.widget.id);
}

/** A second endpoint, to which calls go now. @returns the id of the outbound configuration */
async function moveTrunk(api: Api, number: string): Promise<string> {
  await api.ok('PATCH', '/v1/sip/config', {
    phone_number: number,
    direction: 'outbound',
    failover_config: {
      enabled: true,
      endpoints: [{ host: 'second.trunk.example.com', priority: 1 }],
      failback: 'manual',
    },
  });
  const path = `/v1/sip?phone_number=${encodeURIComponent(number)}`;
  return (await api.read(NumberConfigurations, 'GET', path)).data.outbound?.id ?? '';
}

/** Four checks an hour of a day; the first endpoint has not answered for the last half hour. */
function probes(trunk_id: string, now: number): ReportBody[] {
  const checks = Array.from({ length: 96 }, (_, index) => {
    const minutesAgo = (95 - index) * 15;
    const down = minutesAgo < 31;
    const at = new Date(now - minutesAgo * minuteMs).toISOString();
    const certificate = {
      subject: 'CN=trunk.example.com',
      issuer: 'O=Example authority',
      names: ['trunk.example.com'],
      valid_from: new Date(now - 80 * 24 * hourMs).toISOString(),
      expires_at: new Date(now + 9.5 * 24 * hourMs).toISOString(),
      seen_at: at,
    };
    const probe = (priority: 0 | 1, healthy: boolean): HealthProbe => ({
      trunk_id,
      endpoint: {
        host: priority === 0 ? 'trunk.example.com' : 'second.trunk.example.com',
        port: 5061,
        priority,
      },
      at,
      healthy,
      response_time_ms: healthy ? 28 + ((index * 7) % 9) : null,
      sip_code: healthy ? 200 : null,
      error: healthy ? null : 'timeout',
      consecutive_failures: healthy ? 0 : 3 - minutesAgo / 15,
      active: down === (priority === 1),
      ...(priority === 0 && { certificate }),
    });
    return [probe(0, !down), probe(1, true)];
  });
  return checks.map((pair) => ({ type: 'health', probes: pair }));
}

function refused(orgId: string, number: string, now: number): RefusedInvites[] {
  const of = (source: string, reason: RefusedInvites['reason'], minutesAgo: number, attempts: number) => ({
    ...refusedInvites(orgId, number, source, reason),
    attempts,
    first_at: new Date(now - minutesAgo * minuteMs - hourMs).toISOString(),
    last_at: new Date(now - minutesAgo * minuteMs).toISOString(),
  });
  return [
    {
      ...of('198.51.100.77', 'source_not_allowed', 3, 4),
      user_agent: 'Example PBX 4.2',
      from: '+14155550155',
    },
    { ...of('203.0.113.40', 'no_agent', 26, 1), user_agent: 'Example PBX 4.2' },
    {
      ...of('192.0.2.66', 'source_not_allowed', 44, 212),
      unanswered: 190,
      from: '1000',
      user_agent: 'scanner',
    },
    { ...of('203.0.113.41', 'wrong_credentials', 95, 2), sip_status: 401, user_agent: 'Branch PBX' },
  ];
}

// ---------------------------------------------------------------- calls

type OfTrunk = Pick<CallRecord, 'number' | 'trunk_id' | 'pathway_id' | 'agent_kind'>;

const caller = (index: number) => `+1415555${String(100 + ((index * 37) % 900)).padStart(4, '0')}`;
const iso = (ms: number) => new Date(ms).toISOString();

/** Of the last two days, more by day than by night. */
function formerCalls(orgId: string, now: number, of: OfTrunk): ReportBody[] {
  return Array.from({ length: 120 }, (_, index) => index)
    .filter((index) => {
      const hour = new Date(now - index * 24 * minuteMs).getUTCHours();
      return (hour > 6 && hour < 20) || index % 5 === 0;
    })
    .map((index): ReportBody => {
      const began = now - (8 + index * 24) * minuteMs;
      const talkMs = 20_000 + ((index * 7919) % 160_000);
      const outcome = outcomes[index % outcomes.length] ?? {};
      const isUp = outcome.answered_at === undefined;
      const isOutbound = index % 4 === 1;
      const parties = isOutbound
        ? { from: of.number, to: caller(index) }
        : { from: caller(index), to: of.number };
      const call = callRecord(orgId, {
        ...{ ...of, ...parties, id: uuid(6, index), sip_call_id: `${index}@pbx.example.com` },
        ...{ direction: isOutbound ? 'outbound' : 'inbound', pathway_version: 1 },
        ...{ started_at: iso(began), answered_at: iso(began + 2000) },
        ended_at: iso(began + 2000 + (isUp ? talkMs : 9000)),
        ...outcome,
      });
      const mos = 4.42 - ((index * 13) % 40) / 100 - (index % 17 === 0 ? 0.9 : 0);
      const media = isUp && call.media ? { ...call.media, mos } : null;
      return { type: 'call', call: { ...call, termination_detail: summaryOf(call.termination), media } };
    });
}

const summaryOf = (termination: string | null) =>
  Object.entries(terminations).find(([code]) => code === termination)?.[1].summary ?? null;

const outcomes: readonly Partial<CallRecord>[] = [
  {},
  {},
  { termination: 'agent_hangup', hangup_by: 'agent' },
  {},
  { answered_at: null, status: 'busy', sip_code: 486, sip_reason: 'Busy Here', termination: 'callee_busy' },
  {},
  { termination: 'agent_hangup', hangup_by: 'agent' },
  { answered_at: null, status: 'no-answer', sip_code: 480, termination: 'no_answer' },
];

/** Calls that end now, of which a watch makes its verdicts: the second version is worse. */
function judgedCalls(orgId: string, now: number, of: OfTrunk): ReportBody[] {
  return Array.from({ length: 22 }, (_, index): ReportBody[] => {
    const version = index < 11 ? 1 : 2;
    const fails = version === 1 ? index === 4 : index % 3 > 0;
    const ended = now + index * 40;
    const call = callRecord(orgId, {
      ...{ ...of, id: uuid(7, index), sip_call_id: `judged-${index}@pbx.example.com`, from: caller(index) },
      ...{ to: of.number, pathway_version: version, started_at: iso(ended - 40_000) },
      ...{ answered_at: iso(ended - 38_000), ended_at: iso(ended) },
    });
    const line = (place: number, user: 'user' | 'assistant', text: string) => ({
      id: uuid(8, 10 * index + place),
      at: iso(ended - 30_000 + place * 4000),
      user,
      text,
      node_id: null,
      node_name: null,
    });
    const answer = fails ? 'Please call again tomorrow.' : 'You are booked. Goodbye.';
    const entries = [
      line(1, 'assistant', 'Harbour Dental, how can I help you?'),
      line(2, 'user', `I need an appointment, my number is ${4700 + index}.`),
      line(3, 'assistant', answer),
    ];
    return [
      { type: 'call', call },
      { type: 'transcript', call_id: call.id, entries },
    ];
  }).flat();
}

const liveWords = [
  'I would like to move my appointment to Friday.',
  'One moment, I am looking for your order.',
  'Is the blue one still available?',
  'Your order 4711 is on its way.',
  'Could I speak to somebody about my invoice?',
  'You are booked for Tuesday at nine.',
  'When are you open?',
];

function liveCalls(orgId: string, now: number, of: OfTrunk): CallRecord[] {
  return Array.from({ length: 9 }, (_, index) => {
    const began = now - 4000 - index * index * 3100 - index * 5000;
    const isOutbound = index % 3 === 2;
    const peer = caller(index + 3);
    return callRecord(orgId, {
      ...{ ...of, id: uuid(9, index), sip_call_id: `live-${index}@pbx.example.com` },
      ...{ direction: isOutbound ? 'outbound' : 'inbound', pathway_version: 1 },
      ...{ from: isOutbound ? of.number : peer, to: isOutbound ? peer : of.number },
      ...{ started_at: iso(began), answered_at: index === 0 ? null : iso(began + 2000), ended_at: null },
      ...{ status: index === 0 ? 'ringing' : 'in-progress', sip_code: null, sip_reason: null },
      ...{ termination: null, hangup_by: null, media: null },
    });
  });
}

function words(call: CallRecord, index: number): ReportBody[] {
  if (call.answered_at === null) return [];
  const text = liveWords[index % liveWords.length] ?? '';
  const entry = { id: uuid(10, index), at: iso(Date.now()), node_id: null, node_name: null };
  return [
    {
      type: 'transcript',
      call_id: call.id,
      entries: [{ ...entry, user: index % 2 === 0 ? 'assistant' : 'user', text }],
    },
  ];
}
