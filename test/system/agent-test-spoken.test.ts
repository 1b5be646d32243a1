/** Test runs over a real call on which both sides speak, with a transcription server: an agent of ours, and of others. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ForeignAgentAnswer } from '#shared/api/agent-testing/foreign-agents.ts';
import { LoadAnswer, LoadStarted } from '#shared/api/agent-testing/loads.ts';
import { type Run, RunAnswer, RunStarted } from '#shared/api/agent-testing/runs.ts';
import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import { OrganizationSettingsAnswer } from '#shared/api/organization.ts';
import { Flite } from '#shared/models/flite.ts';
import { BotServer, type BotSocket } from '../kit/edge/stream-server.ts';
import { decodeMulaw, encodeMulaw } from '../kit/fakes/audio.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { TranscriptionServer } from '../kit/fakes/transcription-server.ts';
import { longTest } from '../kit/long-test.ts';
import { AgentTestRuns, noCallIsUp } from '../kit/programs/agent-test-runs.ts';
import { Api } from '../kit/programs/api.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { loud, sounds, TheirDesk } from '../kit/programs/their-desk.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import { attachTrunk, startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';
import { labKey } from '../kit/speech/lab-server.ts';
import { OpenAiRealtimeServer } from '../kit/speech/openai-realtime-server.ts';

const number = '+14155550171';
const greeting = 'How can I help?';
const wish = 'I would like to talk to sales.';
const goodbye =
  'You have reached the sales department, which is closed for the holidays until Monday morning. Goodbye.';

let server: TranscriptionServer;
let system: TestSystem;
let bots: BotServer;
/** The front desk. */
let pathway_id: string;

beforeAll(async () => {
  server = await TranscriptionServer.start([greeting, wish, goodbye]);
  system = await startTrunkSystem({ STT_BASE_URL: server.url, STT_MODEL: 'whisper-1' });
  bots = await BotServer.listen(undefined, {}, await trunkPair(system));
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => server?.close(),
    () => bots?.close(),
    () => flite.close(),
  ),
);

test('both hear each other, and assertions run on the transcribed words', async () => {
  const { api } = system;
  pathway_id = await api.pathway(
    'front desk',
    [
      { id: 'ask', type: 'Default', data: { name: 'Ask', text: greeting, isStart: true } },
      { id: 'sales', type: 'End Call', data: { name: 'Sales', text: goodbye } },
      { id: 'else', type: 'End Call', data: { name: 'Else', text: 'I am sorry.' } },
    ],
    [
      { id: 'e1', source: 'ask', target: 'sales', data: { label: 'The caller wants to talk to sales' } },
      { id: 'e2', source: 'ask', target: 'else', data: { label: 'The caller wants to cancel an order' } },
    ],
  );
  await api.attach(number, []);
  await api.answerWith(number, { pathway_id });
  await api.applied(number);
  const scenario = await api.read(ScenarioAnswer, 'POST', '/v1/agent-testing/scenarios', {
    pathway_id,
    name: 'Sales by word',
    category: 'HAPPY_PATH',
    scenario_type: 'REPLAY',
    input_messages: [
      { role: 'assistant', content: greeting },
      { role: 'user', content: wish },
    ],
    assertions: [
      { type: 'NODE_REACHED', config: { node_id: 'sales' } },
      { type: 'STRING_CHECK', config: { value: 'the sales department' } },
    ],
  });
  const started = await api.read(RunStarted, 'POST', `/v1/agent-testing/scenarios/${scenario.data.id}/run`, {
    transport: 'sip',
    phone_number: number,
  });
  const run = await eventually(
    'the end of the run',
    async () => {
      const { data } = await api.read(RunAnswer, 'GET', `/v1/agent-testing/runs/${started.data.run_id}`);
      return data.status === 'PENDING' || data.status === 'RUNNING' ? null : data;
    },
    150_000,
  );
  expect(run).toMatchObject({
    status: 'PASSED',
    error_message: null,
    chat_history: [
      { role: 'assistant', content: greeting, turn: 0, node_id: 'ask' },
      { role: 'user', content: wish, turn: 1 },
      { role: 'assistant', content: goodbye, turn: 1, node_id: 'sales' },
    ],
    voice: {
      turns: [{ transcript_source: 'transcription' }, { transcript_source: 'transcription' }],
      media: { verdict: 'two_way' },
    },
  });
  expect(server.heard).toEqual([greeting, wish, goodbye]);
});

const agents = '/v1/agent-testing/agents';

/** Where a voice begins, in samples; -1: nowhere. */
const beginOf = (samples: Int16Array) => samples.findIndex((sample) => Math.abs(sample) > loud);

/** Each has a channel of its own, and the agent speaks first. */
function expectBothRecorded(agent: Int16Array, caller: Int16Array): void {
  expect(beginOf(agent)).toBeGreaterThanOrEqual(0);
  expect(beginOf(caller)).toBeGreaterThan(beginOf(agent));
}

const flite = new Flite();

/** Runs a caller that asks for sales against an agent of others. */
async function runAgainst(agent_id: string, assertions: readonly object[]) {
  const runs = new AgentTestRuns(system);
  const id = await runs.scenario({
    agent_id,
    name: `Sales of ${agent_id}`,
    scenario_type: 'REPLAY',
    input_messages: [{ role: 'user', content: wish }],
    assertions,
  });
  const path = `/v1/agent-testing/scenarios/${id}/run`;
  return { runs, start: () => system.api.read(RunStarted, 'POST', path, { seed: 1 }) };
}

const assertions = [
  { type: 'STRING_CHECK', config: { value: 'the sales department' } },
  { type: 'NODE_REACHED', config: { node_id: 'sales' }, is_required: false },
];

/** A run against a desk that transfers the caller, once its owner has proven to hear it. */
async function runAgainstDesk(to: string, trunk: TestTrunk): Promise<Run> {
  const { api } = system;
  const made = await api.read(ForeignAgentAnswer, 'POST', agents, {
    name: `Their desk, ${to}`,
    format: 'call',
    from: number,
    to,
    headers: [{ name: 'X-Campaign', value: 'tests' }],
  });
  const { runs, start } = await runAgainst(made.id, assertions);
  await expect(start()).rejects.toThrow('TEST_AGENT_NOT_PROVEN');

  await api.ok('POST', `${agents}/${made.id}/ownership`);
  const told = await TheirDesk.answer(trunk, flite);
  const speaking = told.speak();
  await told.say(greeting);
  await told.hears(() => told.keys.length === 6);
  await told.hangUp();
  await speaking;
  const confirm = `${agents}/${made.id}/ownership/confirm`;
  const proven = await api.read(ForeignAgentAnswer, 'POST', confirm, { code: told.keys });
  expect(proven.proven_at).not.toBeNull();

  const { run_id } = await start();
  const desk = await TheirDesk.answer(trunk, flite);
  expect(desk.invite).toContain('\r\nX-Campaign: tests\r\n');
  const talking = desk.speak();
  await desk.say(greeting);
  await desk.heardOut();
  await desk.say(goodbye);
  await desk.transfer('sip:sales@desk.example.com');
  const run = await runs.ended(run_id);
  await desk.left();
  await talking;
  await trunk.close();
  const { left, right } = await runs.recording(run_id);
  expectBothRecorded(left, right);
  return run;
}

test('an agent of others with a telephone is called over a trunk or by its SIP URI, once its owner has proven to hear it', async () => {
  const pair = await trunkPair(system);
  const [trunk, direct] = [await TestTrunk.listen(pair), await TestTrunk.listen(pair)];
  await attachTrunk(system, number, trunk.port);
  const ended = await Promise.all([
    runAgainstDesk('+14155550199', trunk),
    runAgainstDesk(`sip:desk@127.0.0.1:${direct.port};transport=tls`, direct),
  ]);
  for (const run of ended) {
    expect(run).toMatchObject({
      status: 'PASSED',
      error_message: null,
      transport: 'sip',
      reasoning: expect.stringContaining('transfer to sip:sales@desk.example.com'),
      chat_history: [
        { role: 'assistant', content: greeting, turn: 0, node_id: null },
        { role: 'user', content: wish, turn: 1 },
        { role: 'assistant', content: goodbye, turn: 1, node_id: null },
      ],
      nodes_visited: [],
      voice: { call_id: null, caller_media: { verdict: 'two_way' } },
    });
    expect(run.assertion_results.map(({ status }) => status)).toEqual(['PASSED', 'INCONCLUSIVE']);
  }
});

test('a model that hears and speaks is tested behind its connection', async () => {
  const { api } = system;
  const lab = await new OpenAiRealtimeServer(await trunkPair(system)).listen();
  try {
    // The pauses between the words of the caller are shorter.
    lab.endMs = 1000;
    for (const text of [greeting, goodbye]) {
      const samples = await flite.synthesize(text, { voice: null, language: 'en-US', sampleRate: 8000 });
      lab.voices.set(text, samples.subarray(0, samples.length - (samples.length % 160)));
    }
    lab.answers.push(
      { text: greeting },
      { text: goodbye, calls: [{ id: 'c1', name: 'end_conversation', input: {} }] },
    );
    const connection = {
      name: 'lab',
      protocol: 'openai',
      url: lab.url.href,
      model: 'talker',
      api_key: labKey,
    };
    await api.read(OrganizationSettingsAnswer, 'PATCH', '/v1/org/settings', { realtime: [connection] });
    const made = await api.read(ForeignAgentAnswer, 'POST', agents, {
      name: 'Their model',
      format: 'realtime',
      connection: 'lab',
      instructions: 'Put callers through to sales.',
    });
    const { runs, start } = await runAgainst(made.id, assertions);
    const { run_id } = await start();
    const run = await runs.ended(run_id);
    expect(run).toMatchObject({
      status: 'PASSED',
      error_message: null,
      chat_history: [{ content: greeting }, { content: wish }, { content: goodbye }],
      voice: { media: { verdict: 'two_way' } },
    });
    expect(run.assertion_results.map(({ status }) => status)).toEqual(['PASSED', 'INCONCLUSIVE']);
    expect(lab.session.instructions).toContain('Put callers through to sales.');
    expect(lab.violations).toEqual([]);
    const { left, right } = await runs.recording(run_id);
    expectBothRecorded(right, left);
  } finally {
    await lab.close();
  }
});

/** Takes what the caller says; resolves when it has spoken, and been silent for a second. */
async function heardOut(bot: BotSocket): Promise<void> {
  for (const event of ['connected', 'start']) expect((await bot.next()).event).toBe(event);
  let [hasSpoken, quietFrames] = [false, 0];
  while (!hasSpoken || quietFrames < 50) {
    const isLoud = sounds(decodeMulaw(Buffer.from((await bot.media()).payload, 'base64')));
    hasSpoken ||= isLoud;
    quietFrames = isLoud ? 0 : quietFrames + 1;
  }
}

/** Answers the next call as their bot. */
async function botAnswers(): Promise<void> {
  const bot = await bots.accept();
  const say = async (text: string) => {
    const samples = await flite.synthesize(text, { voice: null, language: 'en-US', sampleRate: 8000 });
    bot.send({ event: 'media', media: { payload: encodeMulaw(samples).toString('base64') } });
  };
  await say(greeting);
  await heardOut(bot);
  await say(goodbye);
}

test('a bot behind a WebSocket is tested without any number', async () => {
  const { api } = system;
  const made = await api.read(ForeignAgentAnswer, 'POST', agents, {
    name: 'Their bot',
    format: 'stream',
    url: bots.url,
  });
  const { runs, start } = await runAgainst(made.id, [
    { type: 'STRING_CHECK', config: { value: 'the sales department' } },
  ]);
  const { run_id } = await start();
  await botAnswers();
  expect(await runs.ended(run_id)).toMatchObject({
    status: 'PASSED',
    error_message: null,
    chat_history: [{ content: greeting }, { content: wish }, { content: goodbye }],
  });
});

/** Answers the next call as their desk, which hangs up. */
async function deskAnswers(trunk: TestTrunk): Promise<void> {
  const desk = await TheirDesk.answer(trunk, flite);
  const talking = desk.speak();
  await desk.say(greeting);
  await desk.heardOut();
  await desk.say(goodbye);
  await desk.hangUp();
  await talking;
}

longTest(
  'a load calls agents of others at once: over a trunk, by SIP URI, and behind a WebSocket',
  async () => {
    const { api } = system;
    const operator = new Api(`http://127.0.0.1:${system.controlPort}`, system.bootstrap.operator_key);
    const pair = await trunkPair(system);
    const [trunk, direct] = [await TestTrunk.listen(pair), await TestTrunk.listen(pair)];
    await attachTrunk(system, number, trunk.port);
    const telephone = { format: 'call', from: number };
    const theirs = [
      [{ ...telephone, to: '+14155550198' }, () => deskAnswers(trunk)],
      [{ ...telephone, to: `sip:desk@127.0.0.1:${direct.port};transport=tls` }, () => deskAnswers(direct)],
      [{ format: 'stream', url: bots.url }, botAnswers],
    ] as const;
    for (const [how, answers] of theirs) {
      const made = await api.read(ForeignAgentAnswer, 'POST', agents, { name: 'Under load', ...how });
      if (how.format === 'call') await operator.ok('POST', `/v1/admin/test-agents/${made.id}/allow`);
      const scenarioId = await new AgentTestRuns(system).scenario({
        agent_id: made.id,
        name: 'Sales, both at once',
        scenario_type: 'REPLAY',
        input_messages: [{ role: 'user', content: wish }],
        assertions: [{ type: 'STRING_CHECK', config: { value: 'the sales department' } }],
      });
      const path = '/v1/agent-testing/loads';
      const order = { scenario_ids: [scenarioId], concurrency: 2, runs_per_level: 2, seed: 1 };
      const { load_id } = await api.read(LoadStarted, 'POST', path, order);
      await Promise.all([answers(), answers()]);
      const load = await eventually(
        'the end of the load',
        async () => {
          const now = await api.read(LoadAnswer, 'GET', `${path}/${load_id}`);
          return now.status === 'RUNNING' ? null : now;
        },
        150_000,
      );
      expect(load).toMatchObject({ status: 'COMPLETED', reason: null, knee: { because: null } });
      const figures = load.levels[0]?.figures;
      expect(figures).toMatchObject({
        calls: 2,
        answered: 2,
        passed: 2,
        errored: 0,
        concurrency_reached: 2,
        latency_ms: { answers: 2 },
      });
      expect(figures?.set_up_ms.p50).toBeGreaterThanOrEqual(0);
      expect(figures?.mos.min).toBeGreaterThan(1);
    }
    await noCallIsUp(system);
    await Promise.all([trunk.close(), direct.close()]);
  },
);
