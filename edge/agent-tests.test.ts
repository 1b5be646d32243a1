/** A test run over a call before there is a call. What follows is tested with the whole system. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { systemClock } from '#shared/clock.ts';
import { SpeechError, type SpeechOptions } from '#shared/models/speech.ts';
import { RecordingLog } from '../test/kit/edge/agent.ts';
import { agentTestTimes } from './agent-test-times.ts';
import { type AgentTestParts, runAgentTest, type TestRunOrder } from './agent-tests.ts';

let control: WebSocketServer;
let ended: string[];
let placed: number;
let log: RecordingLog;
let spoken: [string, SpeechOptions][];
/** Called when the caller's voice is tried. */
let speak: () => Promise<void>;

beforeEach(async () => {
  control = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(control, 'listening');
  [ended, placed, spoken] = [[], 0, []];
  log = new RecordingLog();
  speak = async () => undefined;
});
afterEach(() => {
  for (const socket of control.clients) socket.terminate();
  control.close();
});

function run(voice: string | null): Promise<void> {
  const order: TestRunOrder = {
    kind: 'agent_test.call',
    run_id: '6f1c1f5e-3a63-4f0e-9d62-0d7b8f8f2b11',
    org_id: 'o',
    number: '+14155550100',
    caller_number: '+14155550100',
    key: 'k',
    start_node_id: null,
    variables: {},
    voice,
    language: 'en-US',
    max_minutes: 1,
    interrupt_after_ms: null,
  };
  const parts: Omit<
    AgentTestParts,
    'agents' | 'agentTestCalls' | 'media' | 'outward' | 'dialer' | 'reporter'
  > = {
    limits: { ...agentTestTimes, caller: { turnEndMs: 1000, patienceMs: 15_000, maxTurnSeconds: 2 } },
    counts: { ended: (how) => ended.push(how), turnEnded: () => undefined },
    clock: systemClock,
    log,
    controlUrl: `http://127.0.0.1:${(control.address() as AddressInfo).port}`,
    calls: {
      place: () => {
        placed += 1;
        return { end: () => undefined };
      },
    },
    callsItself: () => true,
    self: () => null as never,
    tts: {
      synthesize: async (text, options) => {
        spoken.push([text, options]);
        await speak();
        return new Int16Array(160);
      },
      close: async () => undefined,
    },
    stt: null,
    newId: () => 'call',
  };
  return runAgentTest(order, parts as AgentTestParts);
}

test('has the caller’s voice say a word before the call is placed, where one is named', async () => {
  await run('nova');
  expect(spoken).toEqual([['Hello.', { voice: 'nova', language: 'en-US', sampleRate: 8000, exact: true }]]);
  await run(null);
  expect([spoken.length, placed, ended]).toEqual([1, 2, []]);
});

test('places no call with a voice that nobody has, and says which there are', async () => {
  speak = () =>
    Promise.reject(new SpeechError('the request to http://tts.internal/v1 failed: status 400 no voice'));
  const closed = once(control, 'connection').then(([socket]) => once(socket, 'close'));
  await expect(run('nova')).rejects.toThrow(
    'the caller cannot speak with the voice "nova" (its server answered 400): name a voice of the edge\'s text-to-speech server (TTS_BASE_URL), or in English an embedded one: slt, kal, kal16, rms, awb',
  );
  expect([placed, ended]).toEqual([0, ['not_placed']]);
  await closed;
  speak = () => Promise.reject(new SpeechError('tts.internal sent no sound for 9000 ms'));
  await expect(run('nova')).rejects.toThrow('"nova" (the log of the edge says why): name');
  expect(log.warnings.length).toBe(2);
});

test('places no call for a run that is lost while the voice is tried', async () => {
  speak = async () => {
    for (const socket of control.clients) socket.close(1000);
    await expect.poll(() => log.warnings.length).toBe(1);
  };
  await expect(run('nova')).rejects.toThrow('the test run was lost before its call was placed');
  expect(placed).toBe(0);
});
