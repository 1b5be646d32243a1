import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import { createModels } from '#shared/models/models.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { loudVoices } from '../../../test/kit/ears/loud-voices.ts';
import {
  call,
  countingVoice,
  manner,
  RecordingHost,
  RecordingLog,
  ruleModels,
} from '../../../test/kit/edge/agent.ts';
import { ModelServer } from '../../../test/kit/fakes/model-server.ts';
import { TestedAgent } from './tested-agent.ts';

const persona = {
  kind: 'persona',
  persona_id: '44444444-4444-4444-8444-444444444444',
  persona_version: 3,
  name: 'Ada',
  role: '',
  orchestration_prompt: 'Help with orders.',
  personality_prompt: 'Be warm.',
  pathway_conditions: [],
  ...manner,
  first_sentence: null,
} satisfies AgentSettings;

function tested(models: ConstructorParameters<typeof TestedAgent>[0]['agents']['models']): TestedAgent {
  let ids = 0;
  return new TestedAgent({
    agents: {
      pathways: () => undefined,
      organization: () => undefined,
      models,
      tts: countingVoice,
      stt: null,
      voices: loudVoices,
      clock: new FakeClock(),
      log: new RecordingLog(),
      newId: () => `id-${++ids}`,
      allowedTargets: () => parseNetworks([]),
    },
    send: () => undefined,
    begins: () => undefined,
  });
}

it('counts the requests of its agent, with the tokens that the server tells', async () => {
  const server = await ModelServer.start();
  server.record({ text: ['Good day.'], usage: { input: 31, output: 4 } });
  const named = { baseUrl: server.url, apiKey: null, model: 'm-1' };
  const settings = { agent: named, turbo: named, concurrency: 4 };
  const one = tested(createModels(settings, { clock: new FakeClock(), random: () => 0.5 }));
  const host = new RecordingHost();
  const agent = one.agents().create(persona, call, host);
  await agent.prepare();
  agent.start();
  while (one.account().requests?.length === 0) await new Promise(setImmediate);
  expect(one.account().requests).toEqual([{ model: 'm-1', input_tokens: 31, output_tokens: 4 }]);
  agent.close('over');
  await server.close();
});

it('says nothing of requests that nobody counts', () => {
  const one = tested(ruleModels);
  one.agents();
  expect(one.account()).not.toHaveProperty('requests');
});
