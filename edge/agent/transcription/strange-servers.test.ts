/** Servers of transcriptions that differ from what is published: no turn is lost, and nothing grows with what they send. */
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { LiveScene } from '../../../test/kit/speech/live-scene.ts';
import { quiet } from '../../../test/kit/speech/words.ts';
import { parsedMessage } from '../json-message.ts';
import { deepgram } from './deepgram.ts';
import { deepgramFlux } from './deepgram-flux.ts';
import type { ProviderEvents, TranscriptionProvider } from './provider.ts';
import type { SessionEvents, SocketProtocol } from './socket-provider.ts';
import { mostCharacters, noWords } from './transcription.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

/** What a session makes of a message. */
function events(protocol: SocketProtocol, message: object): unknown[] {
  const told: unknown[] = [];
  const tell =
    (what: string) =>
    (...of: unknown[]) =>
      void told.push([what, ...of]);
  const all: SessionEvents = {
    partial: tell('partial'),
    settled: tell('settled'),
    finished: tell('finished'),
    turn: tell('turn'),
    turnFailed: tell('turnFailed'),
    ready: tell('ready'),
    failed: tell('failed'),
  };
  const server = { url: new URL('ws://127.0.0.1'), apiKey: null, model: 'm' };
  const session = protocol.session(server, { sampleRate: 8000, language: 'en', keyTerms: [] });
  session.receive(parsedMessage(JSON.stringify(message)), all);
  return told;
}

describe('a message with fields that are null', () => {
  it('of Flux ends the turn all the same', () => {
    const message = {
      type: 'TurnInfo',
      request_id: null,
      event: 'EndOfTurn',
      turn_index: null,
      audio_window_start: null,
      audio_window_end: 1.5,
      transcript: 'yes',
      words: [{ word: 'yes', confidence: null }],
      end_of_turn_confidence: null,
      languages: null,
    };
    expect(events(deepgramFlux, message)).toEqual([
      ['settled', { ...noWords, text: 'yes' }, 1500],
      ['finished', 1500],
      ['turn', 'ended'],
    ]);
    expect(events(deepgramFlux, { ...message, words: null, transcript: null })).toEqual([
      ['settled', noWords, 1500],
      ['finished', 1500],
      ['turn', 'ended'],
    ]);
  });

  it('of Deepgram settles the words all the same', () => {
    const message = {
      type: 'Results',
      start: 0,
      duration: 1,
      is_final: true,
      speech_final: null,
      from_finalize: null,
      channel: {
        alternatives: [
          { transcript: 'yes', confidence: null, languages: null, words: [{ word: 'yes', start: null }] },
        ],
      },
      metadata: null,
    };
    expect(events(deepgram, message)).toEqual([['settled', { ...noWords, text: 'yes' }, 1000]]);
    for (const channel of [{ alternatives: [{ transcript: null }] }, { alternatives: null }])
      expect(events(deepgram, { ...message, channel })).toEqual([['settled', noWords, 1000]]);
  });

  it.each([
    ['Flux', deepgramFlux, { type: 'Error', code: null, description: 'gone' }, 'gone'],
    ['Flux', deepgramFlux, { type: 'Error', code: 'X', description: null }, 'X'],
    ['Deepgram', deepgram, { type: 'Error', description: null, message: 'gone' }, 'gone'],
  ])('of %s is an error all the same', (_, protocol, message, why) => {
    expect(events(protocol, message)).toEqual([['failed', why]]);
  });
});

/** @param answer to the end of each turn */
function sceneWith(continuous: boolean, answer: (events: ProviderEvents, turn: number) => void) {
  let turns = 0;
  let told: ProviderEvents | null = null;
  const provider: TranscriptionProvider = {
    name: 'server',
    continuous,
    pieceMs: 20,
    finalWithinMs: 1000,
    connect: async (_options, of) => {
      told = of;
      const end = () => answer(of, turns++);
      return { bufferedBytes: 0, audio: () => undefined, end, close: () => undefined };
    },
  };
  const scene = new LiveScene([provider], new FakeClock());
  open.push(scene.transcription);
  return { scene, events: () => told };
}

it.each([1e6, 1e300, Number.MAX_VALUE])(
  'a server whose times are in the future by far (%d ms) does not end the turns that follow',
  async (far) => {
    const { scene, events } = sceneWith(true, (of, turn) => {
      of.settled({ ...noWords, text: `turn ${turn}` }, 1500);
      of.finished(1500);
    });
    await scene.hear(quiet(100));
    events()?.finished(far);
    await scene.hear(quiet(1000));
    await scene.say('yes');
    await scene.pass(100);
    expect(await scene.texts(1)).toEqual(['turn 0']);
  },
);

it.each([
  ['with times', true, 500],
  ['without times', false, null],
])('words without end are cut, %s', async (_, continuous, through) => {
  const endless = 'word '.repeat(500_000);
  const { scene } = sceneWith(continuous, (of) => {
    of.partial({ ...noWords, text: endless });
    of.settled({ ...noWords, text: endless }, through);
    of.finished(through);
  });
  await scene.say('yes');
  await scene.pass(100);
  const [text = ''] = await scene.texts(1);
  expect(text.length).toBeLessThanOrEqual(mostCharacters);
  expect(text.length).toBeGreaterThan(mostCharacters - 10);
  expect(Math.max(0, ...scene.partials.map((words) => words.text.length))).toBeLessThanOrEqual(
    mostCharacters,
  );
});
