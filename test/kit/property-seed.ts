/**
 * Every property check of a test file starts with this seed, so runs are repeatable. PROPERTY_SEED sets another one;
 * `random` chooses a new one. A failing check prints its seed.
 */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';

const usualSeed = 20_300_101;

/** @throws Error unless `text` is undefined, `random` or an integer */
export function propertySeed(text: string | undefined, random: () => number): number {
  if (text === undefined) return usualSeed;
  if (text === 'random') return random();
  if (!/^-?\d{1,10}$/.test(text)) {
    throw new Error(`PROPERTY_SEED is ${JSON.stringify(text)}: set it to an integer or to "random"`);
  }
  return Number(text);
}

const seed = propertySeed(process.env.PROPERTY_SEED, () => randomInt(2 ** 31));

fc.configureGlobal({
  seed,
  reporter: (details) => {
    const report = fc.defaultReportMessage(details);
    if (report === undefined) return;
    const again = `${report}\n\nAgain with: PROPERTY_SEED=${details.seed}`;
    throw new Error(again, { cause: details.errorInstance });
  },
});
