import { beforeEach, describe, expect, test } from 'vitest';
import type { HeardTurn } from '#shared/agent-test-protocol.ts';
import { FakeClock } from '#shared/clock.ts';
import type { SpeechToText } from '#shared/models/speech.ts';
import { loudVoices } from '../../../test/kit/ears/loud-voices.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { TestCaller } from './test-caller.ts';

const loud = new Int16Array(160).fill(4000);
const quiet = new Int16Array(160);

let clock: FakeClock;
let delivered: string[];
let turns: HeardTurn[];
let pressed: PromiseWithResolvers<void>;
let busy: boolean;
let sounds: boolean;
let ended: string[];

beforeEach(() => {
  clock = new FakeClock();
  delivered = [];
  turns = [];
  pressed = Promise.withResolvers();
  busy = false;
  sounds = false;
  ended = [];
});

async function caller(
  stt: SpeechToText | null = null,
  interruptAfterMs: number | null = null,
): Promise<TestCaller> {
  const made = new TestCaller({
    host: {
      hangup: (reason) => delivered.push(`hangs up: ${reason}`),
      sendDtmf: (keys) => {
        delivered.push(`presses ${keys}`);
        return pressed.promise;
      },
      fail: (error) => delivered.push(`fails: ${error.message}`),
    },
    clock,
    log: new QuietLog(),
    // A word takes 100 ms.
    tts: {
      synthesize: async (text) => {
        if (text === '?') throw new Error('no voice');
        return new Int16Array(800 * text.split(' ').length).fill(3000);
      },
      close: async () => {},
    },
    stt,
    voices: loudVoices,
    voice: null,
    language: 'en-US',
    limits: { turnEndMs: 1000, patienceMs: 15_000, maxTurnSeconds: 2 },
    interruptAfterMs,
    agentIsBusy: () => busy,
    agentSounds: () => sounds,
    answered: () => delivered.push('answered'),
    turn: (heard, last) => {
      turns.push(heard);
      delivered.push(last ? 'last turn' : 'turn');
    },
    moved: () => delivered.push('moved'),
    turnEnded: (by, cut) => ended.push(cut ? `${by}, cut` : by),
  });
  await made.prepare();
  made.start();
  return made;
}

/** Runs the line. @returns ms in which the caller spoke */
function run(of: TestCaller, frame: Int16Array, ms: number): number {
  let said = 0;
  for (let passed = 0; passed < ms; passed += 20) {
    clock.advance(20);
    of.write(frame);
    if (of.read(new Int16Array(160))) said += 20;
  }
  return said;
}

/** Lets synthesis and transcription finish. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the simulated caller', () => {
  test('lets the agent finish, then takes its turn', async () => {
    const one = await caller();
    run(one, loud, 1000);
    run(one, quiet, 900);
    await settled();
    expect(delivered).toEqual(['answered']);
    run(one, quiet, 200);
    await settled();
    expect(delivered).toEqual(['answered', 'turn']);
    expect(turns[0]).toMatchObject({ response_latency_ms: 0, speech_ms: 1000, words: null });
  });

  test('speaks and listens to the answer', async () => {
    const one = await caller();
    run(one, loud, 500);
    run(one, quiet, 1200);
    await settled();
    one.move({ type: 'say', text: 'I need help', interrupt_after_ms: null });
    await settled();
    expect(run(one, quiet, 400)).toBe(300);
    await settled();
    run(one, quiet, 200);
    run(one, loud, 600);
    run(one, quiet, 1200);
    await settled();
    expect(delivered).toEqual(['answered', 'turn', 'moved', 'turn']);
    expect(turns[1]).toMatchObject({ response_latency_ms: 200, speech_ms: 600, barge_in: false });
  });

  test('presses keys, and measures the answer from the last one', async () => {
    const one = await caller();
    run(one, loud, 500);
    run(one, quiet, 1200);
    await settled();
    one.move({ type: 'keys', keys: '12', interrupt_after_ms: null });
    run(one, quiet, 260);
    pressed.resolve();
    await settled();
    run(one, quiet, 100);
    run(one, loud, 600);
    run(one, quiet, 1200);
    await settled();
    expect(delivered).toEqual(['answered', 'turn', 'moved', 'presses 12', 'turn']);
    expect(turns[1]).toMatchObject({ response_latency_ms: 100 });
    expect(one.keysSent).toEqual(['12']);
  });

  test('continues when the agent is silent for too long, but not while the agent is busy', async () => {
    const one = await caller();
    busy = true;
    run(one, quiet, 20_000);
    await settled();
    expect(delivered).toEqual(['answered']);
    busy = false;
    run(one, quiet, 14_980);
    await settled();
    expect(delivered).toEqual(['answered']);
    run(one, quiet, 20);
    await settled();
    expect(delivered).toEqual(['answered', 'turn']);
    expect(turns[0]).toMatchObject({ response_latency_ms: null, speech_ms: 0, silence_ms: 35_000 });
    expect(ended).toEqual(['patience']);
  });

  test('lets the agent continue speaking once its work is done', async () => {
    const one = await caller();
    run(one, loud, 500);
    busy = true;
    run(one, quiet, 3000);
    busy = false;
    run(one, quiet, 300);
    run(one, loud, 500);
    run(one, quiet, 1200);
    await settled();
    expect(delivered).toEqual(['answered', 'turn']);
    expect(turns[0]).toMatchObject({ speech_ms: 1000, silence_ms: 3300 });
    expect(ended).toEqual(['silence']);
  });

  test('does not begin while the agent plays its words, though they come late', async () => {
    const one = await caller();
    sounds = true;
    run(one, loud, 500);
    run(one, quiet, 3000);
    run(one, loud, 500);
    sounds = false;
    run(one, quiet, 900);
    await settled();
    expect(delivered).toEqual(['answered']);
    run(one, quiet, 200);
    await settled();
    expect(turns).toMatchObject([{ speech_ms: 1000, silence_ms: 3000, barge_in: false }]);
  });

  test('gives up on an agent that plays what never arrives', async () => {
    const one = await caller();
    sounds = true;
    run(one, loud, 500);
    run(one, quiet, 15_000);
    await settled();
    expect(delivered).toEqual(['answered']);
    run(one, quiet, 1100);
    await settled();
    expect(ended).toEqual(['silence']);
  });

  test('reports when a turn was too long to be transcribed in full', async () => {
    const one = await caller({ transcribe: async (samples) => `${samples.length / 8000} s` });
    run(one, loud, 2500);
    run(one, quiet, 1200);
    await settled();
    expect(turns[0]?.words).toBe('2 s');
    expect(ended).toEqual(['silence, cut']);
  });

  test('interrupts the agent when ordered to', async () => {
    const one = await caller(null, 400);
    run(one, loud, 500);
    await settled();
    expect(delivered).toEqual(['answered', 'turn']);
    one.move({ type: 'say', text: 'wait', interrupt_after_ms: null });
    await settled();
    run(one, loud, 60);
    run(one, quiet, 1000);
    await settled();
    run(one, loud, 300);
    run(one, quiet, 1200);
    await settled();
    expect(turns[1]).toMatchObject({ barge_in: true, overlap_ms: 60, speech_ms: 460 });
    expect(ended).toEqual(['interruption', 'silence']);
  });

  test('transcribes the words of the agent', async () => {
    const one = await caller({ transcribe: async (samples) => `${samples.length / 160} frames` });
    run(one, loud, 500);
    run(one, quiet, 1200);
    await settled();
    expect(turns[0]?.words).toMatch(/^\d+ frames$/);
  });

  test("uses the agent's own account when transcription fails", async () => {
    const one = await caller({ transcribe: async () => Promise.reject(new Error('away')) });
    run(one, loud, 500);
    run(one, quiet, 1200);
    await settled();
    expect(turns[0]?.words).toBeNull();
  });

  test('reports the turn cut off by the end of the call, and makes no move after it', async () => {
    const one = await caller();
    run(one, loud, 500);
    one.close();
    await one.done();
    one.move({ type: 'say', text: 'too late', interrupt_after_ms: null });
    expect(delivered).toEqual(['answered', 'last turn']);
    expect(turns[0]).toMatchObject({ speech_ms: 500 });
    expect(ended).toEqual(['call_end']);
    expect(clock.pending).toBe(0);
  });

  test('ignores a move that is out of turn', async () => {
    const one = await caller();
    one.move({ type: 'keys', keys: '1', interrupt_after_ms: null });
    expect(delivered).toEqual(['answered']);
  });

  test('ends the call when it has no voice', async () => {
    const one = await caller();
    run(one, loud, 500);
    run(one, quiet, 1200);
    await settled();
    one.move({ type: 'say', text: '?', interrupt_after_ms: null });
    await settled();
    expect(delivered.at(-1)).toBe('fails: no voice');
  });
});
