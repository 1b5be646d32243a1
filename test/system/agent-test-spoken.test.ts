/** A test run over a real call on which both sides speak, with a transcription server. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunAnswer, RunStarted } from '#shared/api/agent-testing/runs.ts';
import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { TranscriptionServer } from '../kit/fakes/transcription-server.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';

const number = '+14155550171';
const greeting = 'How can I help?';
const wish = 'I would like to talk to sales.';
const goodbye =
  'You have reached the sales department, which is closed for the holidays until Monday morning. Goodbye.';

let server: TranscriptionServer;
let system: TestSystem;

beforeAll(async () => {
  server = await TranscriptionServer.start([greeting, wish, goodbye]);
  system = await TestSystem.start({ STT_BASE_URL: server.url, STT_MODEL: 'whisper-1' });
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => server?.close(),
  ),
);

test('both hear each other, and assertions run on the transcribed words', async () => {
  const { api } = system;
  const pathway_id = await api.pathway(
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
