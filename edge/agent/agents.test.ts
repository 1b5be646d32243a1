import { afterAll, beforeAll, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Flite } from '#shared/models/flite.ts';
import { SpeechCache } from '#shared/models/speech-cache.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { call, manner, RecordingHost, RecordingLog, ruleModels } from '../../test/kit/edge/agent.ts';
import { createAgents } from './agents.ts';

const speech = new SpeechCache(new Flite(), 10_000_000);
beforeAll(() => speech.warm());
afterAll(() => speech.close());

const agents = createAgents({
  pathways: () => ({
    pathway_id: 'p',
    version: 0,
    org_id: call.orgId,
    name: 'Hello',
    nodes: [
      { id: 'a', type: 'Default', data: { isStart: true, text: 'Welcome to the demonstration line.' } },
    ],
    edges: [],
  }),
  organization: () => undefined,
  models: ruleModels,
  tts: speech,
  stt: null,
  clock: new FakeClock(),
  log: new RecordingLog(),
  newId: () => 'id',
  allowedTargets: () => parseNetworks([]),
});

it('speaks with the embedded voice from the first frame', async () => {
  const host = new RecordingHost();
  const pathway = {
    kind: 'pathway',
    pathway_id: 'p',
    pathway_version: 0,
    start_node_id: null,
    ...manner,
  } as const;
  const agent = agents.create(pathway, call, host);
  await agent.prepare();
  agent.start();
  while (host.lines('assistant').length === 0) await new Promise(setImmediate);
  const frame = new Int16Array(160);
  let frames = 0;
  let energy = 0;
  while (agent.read(frame)) {
    frames++;
    for (const sample of frame) energy += sample * sample;
  }
  expect(frames * 20).toBeGreaterThan(1000);
  expect(frames * 20).toBeLessThan(4000);
  expect(Math.sqrt(energy / (frames * 160))).toBeGreaterThan(500);
  agent.close('over');
});

it('creates no realtime agent without its connection', () => {
  const realtime = { kind: 'realtime', connection_id: 'main', prompt: 'Sell.', ...manner } as const;
  expect(() => agents.create(realtime, call, new RecordingHost())).toThrow(
    "The realtime connection main is not in the edge's configuration",
  );
});

it('creates echo and tone agents, and no stream for an unknown organization', () => {
  const host = new RecordingHost();
  expect(agents.create({ kind: 'echo', ...manner }, call, host).sampleRate).toBe(8000);
  expect(agents.create({ kind: 'tone', frequency_hz: 440, ...manner }, call, host).sampleRate).toBe(8000);
  const stream = { kind: 'stream', stream_url: 'wss://bot.example.com/', ...manner } as const;
  expect(() => agents.create(stream, call, host)).toThrow("is not in the edge's configuration");
});
