/** The measurements of a test run over a real call, compared with the known audio. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import { Flite } from '#shared/models/flite.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { longTest } from '../kit/long-test.ts';
import { AgentTestRuns, type VoiceOfCall } from '../kit/programs/agent-test-runs.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';

const plain = '+14155550180';
/** Its agent lets the other side speak first, for `greetingMs`. */
const polite = '+14155550181';
/** Its agent cannot be interrupted. */
const stubborn = '+14155550182';

const greetingMs = 3000;
const patienceMs = 6000;
/** Response time of the slow web server. */
const slowMs = 3000;

const greeting =
  'Press 1 for orders, press 2 for stories, press 3 for the weather, press 4 for returns and take all the time that you want because we are here for you around the clock';
const story = 'There once was a telephone that rang and rang until somebody answered it at last';
const short = 'Goodbye';
const words = 'Excuse me but I would like to say something about my orders';

/** The media clock has steps of 20 ms, and a jitter buffer may stretch or shorten a pause. */
const toleranceMs = 500;

let system: TestSystem;
let runs: AgentTestRuns;
let server: Server;
let pathway_id: string;
const voice = new Flite({ voice: 'slt' });

beforeAll(async () => {
  server = createServer((_request, response) => setTimeout(() => response.end('{}'), slowMs));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  system = await TestSystem.start(
    { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', METRICS_PUBLIC: 'true' },
    { edge: { limits: { talk: { greetingMs }, testCaller: { patienceMs } } } },
  );
  runs = new AgentTestRuns(system);
  pathway_id = await measuringLine((server.address() as AddressInfo).port);
  await answering(plain, {});
  await answering(polite, { wait_for_greeting: true });
  await answering(stubborn, { block_interruptions: true });
});

afterAll(() =>
  releaseAll(
    () => voice.close(),
    () => system?.stop(),
    () => server?.close(),
    () => server?.closeAllConnections(),
  ),
);

function measuringLine(webPort: number): Promise<string> {
  const end = (id: string, text: string) => ({ id, type: 'End Call', data: { name: id, text } });
  const key = (digit: number, target: string) => ({
    id: `e${digit}`,
    source: 'ask',
    target,
    data: { label: `User pressed ${digit}` },
  });
  return system.api.pathway(
    'measuring line',
    [
      { id: 'ask', type: 'Default', data: { name: 'Ask', isStart: true, text: greeting } },
      end('orders', short),
      end('stories', story),
      {
        id: 'weather',
        type: 'Webhook',
        data: { name: 'Weather', text: short, url: `http://127.0.0.1:${webPort}/weather`, method: 'GET' },
      },
      end('forecast', short),
      { id: 'returns', type: 'Wait for Response', data: { name: 'Returns', text: '' } },
    ],
    [
      key(1, 'orders'),
      key(2, 'stories'),
      key(3, 'weather'),
      key(4, 'returns'),
      { id: 'e5', source: 'weather', target: 'forecast', data: { label: 'Success' } },
    ],
  );
}

async function answering(number: string, more: object): Promise<void> {
  await system.api.attach(number, []);
  await system.api.answerWith(number, { pathway_id, ...more });
  await system.api.applied(number);
}

/** A caller who presses the key of this option. */
const wants = (what: string, more: object = {}) =>
  runs.scenario({
    pathway_id,
    name: `${what} ${JSON.stringify(more)}`,
    tester_persona_prompt: `You want to know about your ${what}.`,
    ...more,
  });

/** ms between the first and the last audible sample of a spoken text. */
async function soundOf(text: string): Promise<number> {
  const samples = await voice.synthesize(text, { voice: null, language: 'en-US', sampleRate: 8000 });
  const loud = samples.findIndex((sample) => Math.abs(sample) > 300);
  const last = samples.findLastIndex((sample) => Math.abs(sample) > 300);
  return (last - loud) / 8;
}

/** ms from the answer to the end, by the call log. */
async function lengthOf({ call_id }: VoiceOfCall): Promise<number> {
  const { answered_at, ended_at } = await system.api.endedCall(call_id);
  return Date.parse(ended_at ?? '') - Date.parse(answered_at ?? '');
}

const turn = (of: VoiceOfCall, number: number) => {
  const found = of.turns.find((one) => one.turn === number);
  if (!found) throw new Error(`the call has no turn ${number}: ${JSON.stringify(of.turns)}`);
  return found;
};

longTest('the speech time of the agent covers its words, and all turns fit into the call', async () => {
  const { voice: call } = await runs.voiceOf(await wants('stories'), plain);
  const said = [turn(call, 0), turn(call, 1)];
  for (const [at, text] of [greeting, story].entries()) {
    const { speech_ms = 0, silence_ms = 0 } = said[at] ?? {};
    const sound = await soundOf(text);
    // A busy machine may make pauses, of which only those above 0.4 s are no speech.
    expect(speech_ms + silence_ms).toBeGreaterThan(sound - toleranceMs);
  }
  expect(said).toMatchObject([
    { barge_in: false, silent_after_ms: null, overlap_ms: 0 },
    { barge_in: false, silent_after_ms: null, overlap_ms: 0 },
  ]);
  const length = await lengthOf(call);
  const parts = said.map(({ response_latency_ms, speech_ms, silence_ms }) => [
    response_latency_ms ?? 0,
    speech_ms,
    silence_ms,
  ]);
  const sum = parts.flat().reduce((total, ms) => total + ms, 0);
  expect(sum).toBeLessThan(length);
  expect(call.latency_ms).toEqual({
    p50: said[1]?.response_latency_ms,
    p95: said[1]?.response_latency_ms,
    max: said[1]?.response_latency_ms,
  });
  const { caller_media: heard } = call;
  const frames = length / 20;
  expect(heard?.packets_received).toBeGreaterThan(frames / 2);
  expect(heard?.packets_received).toBeLessThan(frames * 1.05 + 50);
  expect(heard?.mos).toBeGreaterThanOrEqual(1);
  expect(heard?.mos).toBeLessThanOrEqual(5);
});

longTest('the time to the first sound is the time that the agent waits for a greeting', async () => {
  const [prompt, late] = [
    (await runs.voiceOf(await wants('orders'), plain)).voice,
    (await runs.voiceOf(await wants('orders', { category: 'CUSTOM' }), polite)).voice,
  ];
  expect(prompt.first_audio_ms).toBeGreaterThan(0);
  expect(prompt.first_audio_ms).toBeLessThan(greetingMs);
  expect(late.first_audio_ms).toBeGreaterThanOrEqual(greetingMs - 100);
  expect(late.first_audio_ms).toBeLessThan(greetingMs + 2 * toleranceMs);
  expect(late.longest_silence_ms).toBeGreaterThanOrEqual(late.first_audio_ms ?? Number.NaN);
  expect(turn(late, 0).response_latency_ms).toBe(late.first_audio_ms);
  // A short answer counts as one turn.
  const sound = await soundOf(short);
  expect(Math.abs(turn(prompt, 1).speech_ms - sound)).toBeLessThan(toleranceMs);
});

longTest('a pause is as long as the webhook, and an interrupted agent stops soon', async () => {
  const call = { interrupt_turns: [1], interrupt_after_ms: 1500 };
  const { voice: heeded } = await runs.voiceOf(await wants('weather', { metadata: { call } }), plain);
  const sound = await soundOf(greeting);
  const [asked, answered] = [turn(heeded, 0), turn(heeded, 1)];
  expect(asked.speech_ms).toBeGreaterThanOrEqual(1500 - toleranceMs);
  expect(asked.speech_ms).toBeLessThan(sound / 2);
  expect(answered).toMatchObject({ barge_in: true });
  expect(answered.silent_after_ms).toBeGreaterThan(0);
  expect(answered.silent_after_ms).toBeLessThan(sound / 2);
  // It requests the web server while it speaks.
  const pause = slowMs - (await soundOf(short));
  expect(answered.silence_ms).toBeGreaterThan(pause - toleranceMs);
  // How much longer it is, the machine decides; it is a part of the call.
  expect(answered.silence_ms).toBeLessThan((await lengthOf(heeded)) - asked.speech_ms);
  expect(heeded.longest_silence_ms).toBeGreaterThanOrEqual(answered.silence_ms);
});

longTest('an agent that cannot be interrupted continues, and the overlap is measured', async () => {
  const call = { interrupt_turns: [1], interrupt_after_ms: 600 };
  const scenario = await runs.scenario({
    pathway_id,
    name: 'Speaks over the agent',
    scenario_type: 'REPLAY',
    input_messages: [{ role: 'user', content: words }],
    metadata: { call },
  });
  const { voice: over } = await runs.voiceOf(scenario, stubborn);
  const said = await soundOf(words);
  const sound = await soundOf(greeting);
  const spokenOver = turn(over, 1);
  expect(spokenOver.barge_in).toBe(true);
  expect(spokenOver.overlap_ms).toBeGreaterThan(said / 3);
  expect(spokenOver.overlap_ms).toBeLessThan(said + toleranceMs);
  expect(over.overlap_ms).toBe(spokenOver.overlap_ms + turn(over, 0).overlap_ms);
  // Ignored, it ends with the greeting.
  const left = sound - turn(over, 0).speech_ms;
  expect(spokenOver.silent_after_ms).toBeGreaterThan(left / 2);
  expect(spokenOver.silent_after_ms).toBeLessThan(left + toleranceMs);
});

longTest('the caller waits for a silent agent until its patience ends', async () => {
  const quiet = await wants('returns', { max_turns: 1 });
  const { voice: call } = await runs.voiceOf(quiet, plain);
  const waited = turn(call, 1);
  expect(waited).toMatchObject({ response_latency_ms: null, speech_ms: 0, barge_in: false });
  expect(waited.silence_ms).toBeGreaterThanOrEqual(patienceMs);
  expect(waited.silence_ms).toBeLessThan(patienceMs + 2 * toleranceMs);
  expect(call.longest_silence_ms).toBe(waited.silence_ms);
  expect(call.latency_ms).toEqual({ p50: null, p95: null, max: null });
  await eventually('the edge to have told what ended the turns', async () => {
    const { text } = await system.api.request('GET', '/metrics');
    const counted = (of: string) => new RegExp(`^trunkline_edge_test_${of}"\\} [1-9]`, 'm').test(text);
    return (
      (counted('turns_total\\{edge="[^"]+",ended_by="patience') &&
        counted('turns_total\\{edge="[^"]+",ended_by="interruption') &&
        counted('calls_total\\{edge="[^"]+",how="concluded')) ||
      null
    );
  });
});
