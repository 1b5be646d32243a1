/**
 * How often the judgement by cadence and tones is right, on answers with known truth, each said by two voices. The
 * table stands in docs/voicemail.md, and is made from sound that is the same in every run.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Flite } from '#shared/models/flite.ts';
import { greetings, longAnswers, people, screening } from '../../../test/kit/agent/answers.ts';
import { decodeMulaw, encodeMulaw } from '../../../test/kit/fakes/audio.ts';
import { framesOf, inTurn, noise, silence, together, tones } from '../../../test/kit/fakes/sounds.ts';
import { longTest } from '../../../test/kit/long-test.ts';
import { AnsweringDetector } from './detector.ts';
import { answeringLimits } from './limits.ts';

const voices = ['slt', 'kal'];
/** Levels of white noise in the line, RMS; speech has about 3,000. */
const noises = [0, 300];

type Ending = (speech: Int16Array) => Int16Array;
const waits: Ending = (speech) => inTurn(silence(400), speech, silence(4_000));
const beeps: Ending = (speech) =>
  inTurn(silence(400), speech, silence(900), tones([1_000], 400), silence(2_000));

const truths: readonly (readonly [who: string, texts: readonly string[], ending: Ending])[] = [
  ['a person who says hello', people, waits],
  ['a person with a long greeting', longAnswers, waits],
  ['a mailbox with a beep', greetings, beeps],
  ['a mailbox without a beep', greetings, waits],
  ['a call-screening assistant', screening, waits],
];

function judged(sound: Int16Array): { verdict: string; atMs: number } {
  const detector = new AnsweringDetector(answeringLimits, null);
  for (const [index, frame] of framesOf(sound).entries()) {
    detector.write(decodeMulaw(encodeMulaw(frame)));
    if (detector.verdict !== null) return { verdict: detector.verdict, atMs: (index + 1) * 20 };
  }
  return { verdict: 'unknown', atMs: answeringLimits.watchMs };
}

/** Of a table of the page, without its headings. */
function rowsBelow(mark: string, count: number): string[] {
  const page = readFileSync(new URL('../../../docs/voicemail.md', import.meta.url), 'utf8');
  const [, table = ''] = page.split(`<!-- ${mark} -->\n`);
  return table.split('\n').slice(2, 2 + count);
}

longTest('the page of voicemail has the confusion matrix as measured', async () => {
  const flite = new Flite();
  const lines: string[] = [];
  for (const [who, texts, ending] of truths) {
    const counts: Record<string, number> = { human: 0, voicemail: 0, unknown: 0 };
    const times: number[] = [];
    for (const text of texts) {
      for (const voice of voices) {
        const speech = await flite.synthesize(text, { voice, language: 'en-US', sampleRate: 8000 });
        for (const level of noises) {
          const sound = ending(speech);
          const { verdict, atMs } = judged(together(sound, noise(sound.length / 8, level)));
          counts[verdict] = (counts[verdict] ?? 0) + 1;
          times.push(atMs);
        }
      }
    }
    const median = times.toSorted((one, other) => one - other)[times.length >> 1] ?? 0;
    lines.push(
      `| ${who} | ${counts.human} | ${counts.voicemail} | ${counts.unknown} | ${(median / 1000).toFixed(1)} |`,
    );
  }
  await flite.close();
  expect(rowsBelow('measured', lines.length)).toEqual(lines);
});

/** Where Debian's asterisk-core-sounds-en-wav has the prompts of a mailbox, spoken by a person. */
const recordings = '/usr/share/asterisk/sounds/en_US_f_Allison';

/** A person says one of them, or a mailbox some in turn. */
const recordedPeople = ['hello', 'hello-world', 'im-sorry', 'one-moment-please', 'calling', 'extension'];
const recordedGreetings: readonly (readonly string[])[] = [
  ['vm-theperson', 'digits/5', 'digits/0', 'digits/1', 'vm-isunavail', 'vm-intro'],
  ['vm-theperson', 'digits/5', 'digits/0', 'digits/1', 'vm-isonphone', 'vm-intro'],
  ['vm-nobodyavail', 'vm-intro'],
  ['number-not-answering', 'vm-intro'],
  ['vm-intro'],
  ['vm-nobodyavail'],
  ['vm-leavemsg'],
];

/** PCM of 16 bits at 8 kHz. */
function recorded(name: string): Int16Array {
  const file = readFileSync(join(recordings, `${name}.wav`));
  const start = file.indexOf('data') + 8;
  return Int16Array.from({ length: (file.length - start) >> 1 }, (_, i) => file.readInt16LE(start + 2 * i));
}

it.skipIf(!existsSync(recordings))('the page has the figures of recorded greetings', () => {
  const answered = (who: string, sounds: readonly Int16Array[]) => {
    const verdicts = sounds.map((sound) => judged(inTurn(silence(400), sound, silence(4_000))).verdict);
    const count = (verdict: string) => verdicts.filter((one) => one === verdict).length;
    return `| ${who} | ${count('human')} | ${count('voicemail')} | ${count('unknown')} |`;
  };
  const mailboxes = recordedGreetings.map((parts) => inTurn(...parts.map(recorded)));
  const lines = [
    answered('a person', recordedPeople.map(recorded)),
    answered(
      'a mailbox with a beep',
      mailboxes.map((greeting) => inTurn(greeting, recorded('beep'))),
    ),
    answered('a mailbox without a beep', mailboxes),
  ];
  expect(rowsBelow('recorded', lines.length)).toEqual(lines);
});
