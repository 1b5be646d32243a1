/** Calls that were transcribed by the next server go back to the first one that works again. */
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { DeepgramServer } from '../../../test/kit/speech/deepgram-server.ts';
import { FluxServer } from '../../../test/kit/speech/flux-server.ts';
import { LiveScene, providerAt } from '../../../test/kit/speech/live-scene.ts';
import { OpenAiTranscriptionServer } from '../../../test/kit/speech/openai-transcription-server.ts';
import { quiet, spoken } from '../../../test/kit/speech/words.ts';
import { deepgram } from './deepgram.ts';
import { deepgramFlux } from './deepgram-flux.ts';
import { openAiRealtime } from './openai-realtime.ts';
import { ProviderChoice } from './provider-choice.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

/** Time after which a server that has failed is tried again, ms. */
const avoidMs = 30_000;

const kinds = [
  {
    name: 'Deepgram',
    protocol: deepgram,
    model: 'nova-3',
    make: (clock: FakeClock) => new DeepgramServer(clock),
  },
  { name: 'Deepgram Flux', protocol: deepgramFlux, model: 'flux-general-en', make: () => new FluxServer() },
  {
    name: 'OpenAI Realtime',
    protocol: openAiRealtime,
    model: 'gpt-live-transcribe',
    make: () => new OpenAiTranscriptionServer(),
  },
] as const;

describe.each(kinds)('a call with $name as the second server', ({ protocol, model, make }) => {
  /** The first server was out of order when the call began. */
  async function setUp() {
    const clock = new FakeClock();
    const [first, second] = [make(clock), make(clock)];
    open.push(await first.listen(), await second.listen());
    const scene = new LiveScene(
      [providerAt(protocol, first.url, model, clock), providerAt(protocol, second.url, model, clock)],
      clock,
    );
    open.push(scene.transcription);
    first.faults.refuse = 503;
    await scene.say('book a table');
    expect(await scene.texts(1)).toEqual(['book a table']);
    expect([first.open, second.open]).toEqual([0, 1]);
    return { first, second, scene };
  }

  it('returns to the first between two turns, and no word is lost or doubled', async () => {
    const { first, second, scene } = await setUp();
    first.faults.refuse = null;
    await scene.pass(avoidMs);
    await scene.hear(quiet(100));
    await scene.until(() => first.open === 1);
    await scene.hear(quiet(100));
    await scene.until(() => second.open === 0);
    await scene.say('for two');
    await scene.say('yes please');
    expect(await scene.texts(3)).toEqual(['book a table', 'for two', 'yes please']);
    expect([first.connections, second.connections]).toEqual([1, 1]);
    expect([first.violations, second.violations]).toEqual([[], []]);
    expect(scene.counts).toMatchObject({ fallbacks: 1, returns: 1, failures: 1 });
    expect(scene.failures).toEqual([]);
  });

  it('stays for a turn that begins meanwhile', async () => {
    const { first, second, scene } = await setUp();
    first.faults.refuse = null;
    await scene.pass(avoidMs);
    // At once, so that the first server cannot answer before the turn begins.
    for (const frame of spoken('yes').slice(0, 3)) scene.transcription.write(frame);
    scene.transcription.begin();
    await scene.hear(spoken('yes').slice(3));
    await scene.until(() => first.open === 1);
    await scene.hear(spoken('please'));
    expect(second.open).toBe(1);
    await scene.hear(quiet(400));
    scene.transcription.end();
    expect(await scene.texts(2)).toEqual(['book a table', 'yes please']);
    await scene.hear(quiet(100));
    await scene.until(() => second.open === 0);
    await scene.say('thanks');
    expect(await scene.texts(3)).toEqual(['book a table', 'yes please', 'thanks']);
    expect(first.open).toBe(1);
  });

  it('stays while the first is out of order, and asks it more and more seldom', async () => {
    const { first, second, scene } = await setUp();
    const at: number[] = [];
    for (let passed = 0; passed < 400; passed++) {
      const refused = first.refused;
      await scene.hear(quiet(20));
      await scene.until(() => first.refused === refused || first.open === 0);
      scene.clock.advance(980);
      await scene.hear([]);
      if (first.refused > refused) at.push(passed);
    }
    expect(at.length).toBeGreaterThan(2);
    expect(at.length).toBeLessThan(6);
    await scene.say('thanks');
    expect(await scene.texts(2)).toEqual(['book a table', 'thanks']);
    expect(second.connections).toBe(1);
    expect(scene.failures).toEqual([]);
  });
});

const servers = (): [object, object] => [{}, {}];

it('one call tries the first server again, and the others follow when it has had words from there', async () => {
  const clock = new FakeClock();
  const [first, second] = servers();
  const choice = new ProviderChoice([first, second], clock);
  // Many calls notice one failure.
  for (let calls = 0; calls < 100; calls++) choice.failed(first);
  clock.advance(avoidMs - 1);
  expect([choice.better(second), choice.next()]).toEqual([null, second]);
  clock.advance(1);
  expect(choice.better(second)).toBe(first);
  expect([choice.better(second), choice.next(), choice.isOnTrial(first)]).toEqual([null, second, true]);
  choice.failed(first);
  clock.advance(2 * avoidMs - 1);
  expect(choice.better(second)).toBe(null);
  clock.advance(1);
  expect(choice.better(second)).toBe(first);
  choice.works(first);
  expect([choice.better(second), choice.better(first), choice.next()]).toEqual([first, null, first]);
});

it('the first server is tried by the next call when the one that was to try it has ended', () => {
  const clock = new FakeClock();
  const [first, second] = servers();
  const choice = new ProviderChoice([first, second], clock);
  choice.failed(first);
  clock.advance(avoidMs);
  expect(choice.better(second)).toBe(first);
  // That call ends before it says a word.
  clock.advance(avoidMs);
  expect(choice.better(second)).toBe(first);
});
