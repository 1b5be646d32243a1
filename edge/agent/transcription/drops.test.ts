/** A server of transcriptions that accepts connections and does not keep them. */
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { LiveScene } from '../../../test/kit/speech/live-scene.ts';
import { quiet } from '../../../test/kit/speech/words.ts';
import type { ProviderConnection, ProviderEvents, TranscriptionProvider } from './provider.ts';
import { noWords } from './transcription.ts';

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const part of open.splice(0)) part.close();
});

/** Each connection is handed to the test. */
class Scripted implements TranscriptionProvider {
  readonly continuous = true;
  readonly pieceMs = 20;
  readonly finalWithinMs = 1000;
  readonly name: string;
  readonly events: ProviderEvents[] = [];
  readonly #accepted: (events: ProviderEvents) => void;

  constructor(name: string, accepted: (events: ProviderEvents) => void = () => undefined) {
    this.name = name;
    this.#accepted = accepted;
  }

  async connect(_options: unknown, events: ProviderEvents): Promise<ProviderConnection> {
    this.events.push(events);
    setImmediate(() => this.#accepted(events));
    return { bufferedBytes: 0, audio: () => undefined, end: () => undefined, close: () => undefined };
  }
}

const dropping = (name: string) =>
  new Scripted(name, (events) => events.lost(new Error(`${name} closed`), false));

function sceneWith(...providers: readonly [TranscriptionProvider, ...TranscriptionProvider[]]): LiveScene {
  const scene = new LiveScene(providers);
  open.push(scene.transcription);
  return scene;
}

it('is not connected to with each frame while the caller is silent', async () => {
  const server = dropping('first');
  const scene = sceneWith(server);
  await scene.hear(quiet(20_000));
  expect(server.events.length).toBeLessThan(15);
  expect(server.events.length).toBeGreaterThan(3);
});

it('is left for the next server while the caller is silent', async () => {
  const first = dropping('first');
  const second = new Scripted('second');
  const scene = sceneWith(first, second);
  await scene.hear(quiet(5000));
  expect(first.events.length).toBeLessThan(4);
  expect(second.events).toHaveLength(1);
  expect(scene.counts.fallbacks).toBe(1);
});

it('is asked with pauses when the next one has failed too', async () => {
  const clock = new FakeClock();
  const attempts: number[] = [];
  const refusing = (name: string) => {
    const provider = new Scripted(name);
    provider.connect = async () => {
      attempts.push(clock.elapsed());
      await new Promise<void>((resolve) => clock.after(5, resolve));
      throw new Error(`${name} refuses`);
    };
    return provider;
  };
  const scene = new LiveScene([refusing('first'), refusing('second')], clock);
  open.push(scene.transcription);
  await scene.hear(quiet(20_000));
  expect(attempts.length).toBeLessThan(15);
  expect(attempts.length).toBeGreaterThan(3);
});

it('is not the reason of a failure after it has answered again', async () => {
  const server = new Scripted('first');
  const scene = sceneWith(server);
  await scene.talk('yes');
  server.events[0]?.lost(new Error('an old loss'), false);
  await scene.hear(quiet(400));
  scene.transcription.end();
  server.events[1]?.settled({ ...noWords, text: 'yes' }, 10_000);
  server.events[1]?.finished(null);
  expect(await scene.texts(1)).toEqual(['yes']);
  await scene.say('bye');
  await scene.pass(5000);
  await scene.texts(2);
  expect(scene.failures).toEqual(['the transcription server did not answer in time']);
});

describe('is asked more and more seldom by a call that another server transcribes', () => {
  /** Until it drops a connection, ms. */
  it.each([0, 50, 4000, 20_000])('when it drops each connection after %d ms', async (afterMs) => {
    const { first, scene } = await fallenBack((events, clock) => {
      const drop = () => events.lost(new Error('closed'), false);
      if (afterMs === 0) drop();
      else clock.after(afterMs, drop);
    });
    await silent(scene, 1200);
    expect(first.events.length).toBeGreaterThan(3);
    expect(first.events.length).toBeLessThan(8);
  });

  it('when it ends turns without words, and drops the connection after each', async () => {
    const { first, scene } = await fallenBack(() => undefined);
    let asked = 0;
    for (let minutes = 0; minutes < 20; minutes++) {
      await silent(scene, 60);
      const [events] = first.events.slice(asked);
      if (!events) continue;
      asked = first.events.length;
      // A noise.
      scene.transcription.begin();
      await scene.hear(quiet(200));
      scene.transcription.end();
      events.settled(noWords, 60_000);
      events.finished(null);
      events.lost(new Error('closed'), false);
    }
    expect(first.events.length).toBeGreaterThan(3);
    expect(first.events.length).toBeLessThan(8);
  });

  /** A call that the second server transcribes, because the first was out of order when it began. */
  async function fallenBack(accepted: (events: ProviderEvents, clock: FakeClock) => void) {
    const clock = new FakeClock();
    let isAway = true;
    const first = new Scripted('first', (events) => accepted(events, clock));
    const connect = first.connect.bind(first);
    first.connect = async (options, events) => {
      if (isAway) throw new Error('away');
      return connect(options, events);
    };
    const scene = new LiveScene([first, new Scripted('second')], clock);
    open.push(scene.transcription);
    await scene.hear(quiet(2000));
    expect(scene.counts.fallbacks).toBe(1);
    isAway = false;
    return { first, scene };
  }

  /** Sound twice a second: each frame takes its time. */
  async function silent(scene: LiveScene, seconds: number): Promise<void> {
    for (let half = 0; half < 2 * seconds; half++) {
      await scene.hear(quiet(20));
      scene.clock.advance(480);
      await scene.hear([]);
    }
  }
});
