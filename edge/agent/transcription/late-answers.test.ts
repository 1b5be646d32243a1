/** Servers of transcriptions that are connected late, or are connected and never answer: no words are lost while there is another way. */
import { afterEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { DeepgramServer } from '../../../test/kit/speech/deepgram-server.ts';
import { FluxServer } from '../../../test/kit/speech/flux-server.ts';
import { LiveScene, providerAt } from '../../../test/kit/speech/live-scene.ts';
import { quiet } from '../../../test/kit/speech/words.ts';
import { deepgram } from './deepgram.ts';
import { deepgramFlux } from './deepgram-flux.ts';
import type { ProviderEvents, TranscriptionProvider } from './provider.ts';
import { noWords } from './transcription.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

async function setUp() {
  const clock = new FakeClock();
  const [first, second] = [new FluxServer(), new DeepgramServer(clock)];
  open.push(await first.listen(), await second.listen());
  const one = providerAt(deepgramFlux, first.url, 'flux-general-en', clock);
  const other = providerAt(deepgram, second.url, 'nova-3', clock);
  const scene = new LiveScene([one, other], clock);
  open.push(scene.transcription);
  return { first, second, scene };
}

const serverWith = (connect: TranscriptionProvider['connect']): TranscriptionProvider => ({
  name: 'server',
  continuous: false,
  pieceMs: 20,
  finalWithinMs: 1000,
  connect,
});

it('has the words of a turn when its server can be reached again later than it usually answers', async () => {
  const clock = new FakeClock();
  let isAway = true;
  const server = serverWith(async (_options, events) => {
    if (isAway) throw new Error('away');
    const end = () =>
      clock.after(500, () => {
        events.settled({ ...noWords, text: 'yes please' }, null);
        events.finished(null);
      });
    return { bufferedBytes: 0, audio: () => undefined, end, close: () => undefined };
  });
  const scene = new LiveScene([server], clock);
  open.push(scene.transcription);
  await scene.say('yes please');
  await scene.pass(server.finalWithinMs + 1000);
  expect(scene.finals).toEqual([]);
  isAway = false;
  await scene.pass(5000);
  expect(await scene.texts(1)).toEqual(['yes please']);
  expect(scene.failures).toEqual([]);
});

it('has the words of a turn from the next server when the first does not answer', async () => {
  const { first, second, scene } = await setUp();
  first.faults.mute = true;
  await scene.say('yes please');
  await scene.pass(deepgramFlux.finalWithinMs + 500);
  expect(await scene.texts(1)).toEqual(['yes please']);
  await scene.say('thanks');
  expect(await scene.texts(2)).toEqual(['yes please', 'thanks']);
  expect([first.connections, second.connections]).toEqual([1, 1]);
  expect(scene.failures).toEqual([]);
});

/** Interim results with each piece of sound: far more than are read of a server. */
const flood = 1000;

/** Says a sentence, and is silent until its words are there. */
async function sayTo(scene: LiveScene, sentence: string): Promise<void> {
  const turns = scene.finals.length + 1;
  await scene.say(sentence);
  for (let waited = 0; scene.finals.length < turns && waited < 5000; waited += 100)
    await scene.hear(quiet(100));
  await scene.texts(turns);
}

it('leaves a server whose words come late because it sends too many messages', async () => {
  const clock = new FakeClock();
  const [first, second] = [new DeepgramServer(clock), new DeepgramServer(clock)];
  open.push(await first.listen(), await second.listen());
  const scene = new LiveScene(
    [providerAt(deepgram, first.url, 'nova-3', clock), providerAt(deepgram, second.url, 'nova-3', clock)],
    clock,
  );
  open.push(scene.transcription);
  first.flood = flood;
  const said = ['yes', 'book a table', 'for two', 'tonight please', 'thanks', 'bye'];
  for (const sentence of said) await sayTo(scene, sentence);
  expect(scene.finals.map(({ text }) => text)).toEqual(said);
  expect([second.connections, first.connections]).toEqual([1, 1]);
  expect([scene.counts.late_finals, scene.failures]).toEqual([undefined, []]);
});

/** 27 words, 4 s. */
const long = Array(3).fill('book a table for two tonight please yes thanks').join(' ');

it.each([
  ['30 interim results with each piece of sound', { flood: 30 }],
  ['100', { flood: 100 }],
  ['1000', { flood }],
  ['200 with each 40 ms, however large the pieces are', { floodOf40ms: 200 }],
])('has all words of the only server within half a second, although that sends %s', async (_, floods) => {
  const clock = new FakeClock();
  const server = new DeepgramServer(clock);
  open.push(await server.listen());
  const scene = new LiveScene([providerAt(deepgram, server.url, 'nova-3', clock)], clock);
  open.push(scene.transcription);
  Object.assign(server, floods);
  const said = ['yes', long, 'thanks please'];
  const waited: number[] = [];
  for (const [turn, sentence] of said.entries()) {
    await scene.say(sentence);
    const since = clock.elapsed();
    while (scene.finals.length <= turn && clock.elapsed() < since + 5000) await scene.hear(quiet(20));
    waited.push(clock.elapsed() - since);
  }
  expect(scene.finals.map(({ text }) => text)).toEqual(said);
  expect(Math.max(...waited)).toBeLessThanOrEqual(500);
  expect(scene.failures).toEqual([]);
});

it('has the newest words that may still change soon, of all that come at once', async () => {
  const clock = new FakeClock();
  const server = new DeepgramServer(clock);
  open.push(await server.listen());
  const scene = new LiveScene([providerAt(deepgram, server.url, 'nova-3', clock)], clock);
  open.push(scene.transcription);
  server.flood = flood;
  await scene.talk('book a table for two');
  await scene.hear(quiet(60));
  expect(scene.partials.at(-1)?.text).toBe('book a table for two');
  // 50 in each second, and one in each 20 ms beyond those.
  expect(scene.partials.length).toBeLessThanOrEqual(2 * (50 + 50));
});

it('keeps the most words of a turn that any connection told', async () => {
  const clock = new FakeClock();
  let connections = 0;
  const server = serverWith(async (_options, events) => {
    const text = ++connections === 1 ? 'book a table for two' : 'book a';
    const end = () => events.partial({ ...noWords, text });
    const close = () => undefined;
    return { bufferedBytes: 0, heldSince: () => true, audio: () => undefined, end, close };
  });
  const scene = new LiveScene([server], clock);
  open.push(scene.transcription);
  await sayTo(scene, 'book a table for two');
  expect([scene.finals.map(({ text }) => text), connections]).toEqual([['book a table for two'], 2]);
});

it('sends a turn to the only server once more when its words wait behind former messages', async () => {
  const clock = new FakeClock();
  let connections = 0;
  const server = serverWith(async (_options, events) => {
    const isBehind = ++connections % 2 === 1;
    const end = () => {
      if (isBehind) return events.partial({ ...noWords, text: 'ye' });
      events.settled({ ...noWords, text: `yes ${connections / 2}` }, null);
      events.finished(null);
    };
    const heldSince = () => isBehind;
    const close = () => undefined;
    return { bufferedBytes: 0, heldSince, audio: () => undefined, end, close };
  });
  const scene = new LiveScene([server], clock);
  open.push(scene.transcription);
  await sayTo(scene, 'yes');
  expect([scene.finals.map(({ text }) => text), connections]).toEqual([['yes 1'], 2]);
  expect([scene.counts.late_finals, scene.failures]).toEqual([undefined, []]);
});

it('leaves a server that is late with one turn after the other, however little it says', async () => {
  const clock = new FakeClock();
  const told: ProviderEvents[] = [];
  const slow: TranscriptionProvider = {
    name: 'slow',
    continuous: false,
    pieceMs: 20,
    finalWithinMs: 1000,
    connect: async (_options, events) => {
      told.push(events);
      return { bufferedBytes: 0, audio: () => undefined, end: () => undefined, close: () => undefined };
    },
  };
  const second = new DeepgramServer(clock);
  open.push(await second.listen());
  const scene = new LiveScene([slow, providerAt(deepgram, second.url, 'nova-3', clock)], clock);
  open.push(scene.transcription);
  for (const sentence of ['yes', 'thanks']) {
    await scene.say(sentence);
    told[0]?.partial({ ...noWords, text: 'ye' });
    for (let waited = 0; waited < 1500; waited += 100) await scene.hear(quiet(100));
  }
  expect(await scene.texts(2)).toEqual(['ye', 'thanks']);
  expect(scene.counts).toMatchObject({ late_finals: 1, fallbacks: 1 });
});
