/** What callers of the laboratory do, and what came of it. */
import { level } from '../ears/scenes.ts';
import { pauseMs, type Sounds, speechDb } from './laboratory.ts';
import type { Cue, Talker } from './talker.ts';

const listens = ['mhm', 'okay', 'yeah', 'right', 'uh-huh', 'I see'];
const interrupts = ['stop', 'wait', 'no', 'hold on please', 'I have another question', 'what about tomorrow'];
/** Sound of the agent from which it can be judged what it does, frames. */
const enough = 60;
/** Nothing is judged longer than this, ms. */
const mostMs = 6000;

type Random = () => number;

function any<T>(all: readonly T[], next: Random): T {
  const one = all[Math.floor(next() * all.length)];
  if (one === undefined) throw new Error('there is nothing to choose from');
  return one;
}

/** Words that end evenly over an utterance. */
function cuesOf(text: string, samples: Int16Array): Cue[] {
  const words = text.split(' ');
  return words.map((one, i) => ({ words: one, at: Math.round(((i + 1) * samples.length) / words.length) }));
}

/** Answers sentences, in turn. @returns ms from the last sound to the first of the agent, above the set pause */
export async function turns(
  talker: Talker,
  { sentences }: Sounds,
  count: number,
  next: Random,
): Promise<number[]> {
  const gaps: number[] = [];
  const { voice } = talker;
  await talker.when(() => voice.last?.over === true);
  for (let i = 0; i < count; i++) {
    await talker.pass(300 + 400 * next());
    const before = voice.stretches.length;
    const samples = level(any(sentences, next).samples, speechDb);
    const said = talker.say(samples, cuesOf('please tell me more about that', samples));
    await talker.when(() => said.done && voice.stretches.length > before);
    const answer = voice.stretches[before];
    if (answer && said.lastAt !== null) gaps.push(answer.startedAt - said.lastAt - pauseMs);
    await talker.when(() => voice.sounding === null);
  }
  return gaps;
}

export interface Interrupted {
  /** ms from the first sound of the caller to the end of the agent's; null: it went on for seconds */
  readonly stopMs: number | null;
  /** Whether the agent's text was not gone on with, and the next one began. */
  readonly obeyed: boolean;
}

/** Interrupts long texts, half of them by a short word, half by a sentence. */
export async function interruptions(
  talker: Talker,
  { words, sentences }: Sounds,
  count: number,
  next: Random,
): Promise<Interrupted[]> {
  const found: Interrupted[] = [];
  const { voice } = talker;
  for (let i = 0; i < count; i++) {
    await talker.when(() => lengthOf(talker) > enough);
    await talker.pass(1500 * next());
    const text = voice.last?.text;
    const samples = level(any(i % 2 === 0 ? words : sentences, next).samples, speechDb);
    const said = talker.say(samples, cuesOf(any(interrupts, next), samples));
    await talker.when(() => said.firstAt !== null);
    const firstAt = said.firstAt ?? 0;
    const late = await within(talker, () => voice.sounding === null);
    const stopMs = late ? null : (voice.last?.endedAt ?? 0) - firstAt;
    await talker.when(() => said.done);
    await within(talker, () => lengthOf(talker) > enough && voice.last?.text !== text);
    found.push({ stopMs, obeyed: voice.last?.text !== text });
  }
  return found;
}

/** Frames of a text from which the agent is brought to the next one, so that it does not end while it is judged. */
const nearlyOver = 50 * 25;
/** Back-channels of which one comes when no other has been heard for long. */
const oneInSix = 6;

/** What may be said again of a text that was held for more than a second, frames: the word that was cut. */
const sayAgain = 50;

/** Shows that it listens, some times in a row and some times rarely. @returns whether all went on, and nothing was lost */
export async function backChannels(
  talker: Talker,
  sounds: Sounds,
  count: number,
  next: Random,
): Promise<boolean[]> {
  const { words } = sounds;
  const found: boolean[] = [];
  const { voice } = talker;
  for (let i = 0; i < count; i++) {
    await talker.when(() => lengthOf(talker) > enough);
    if (voice.left < nearlyOver) await interruptions(talker, sounds, 1, next);
    await talker.pass(i % oneInSix === 0 ? 10_000 : 1500 * next());
    const first = voice.stretches.length - 1;
    const samples = level(any(words, next).samples, speechDb);
    const said = talker.say(samples, cuesOf(any(listens, next), samples));
    await talker.when(() => said.done);
    await talker.pass(1500);
    await within(talker, () => lengthOf(talker) > enough);
    const heard = voice.stretches.slice(first);
    found.push(
      heard.every((one, k) => {
        const before = heard[k - 1];
        const again = before ? before.to + 1 - one.from : 0;
        return !before || (before.text === one.text && again >= 0 && again <= sayAgain);
      }),
    );
  }
  return found;
}

/** Nobody speaks. */
export async function standing(talker: Talker, seconds: number) {
  const { voice } = talker;
  await talker.when(() => lengthOf(talker) > 5);
  await talker.pass(seconds * 1000);
  const softer = voice.stretches.reduce((sum, one) => sum + one.softer, 0);
  // A gap in which nothing arrives is one of the machine, not of the agent. A frame after each hold is faded in.
  const stops = voice.stretches.filter(({ silenced }) => silenced).length;
  return { minutes: seconds / 60, stops, lowered: Math.max(0, softer - stops) > 25 ? 1 : 0 };
}

/** Frames of the text that sounds. */
function lengthOf({ voice }: Talker): number {
  const { sounding } = voice;
  return sounding ? sounding.to - sounding.from : 0;
}

/** @returns whether it did not come in time */
async function within(talker: Talker, done: () => boolean): Promise<boolean> {
  let over = false;
  const limit = talker.pass(mostMs).then(() => {
    over = true;
  });
  await Promise.race([talker.when(() => over || done()), limit]);
  return !done();
}
