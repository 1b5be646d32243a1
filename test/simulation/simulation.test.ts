/** Some seeds of the simulated world, in a separate process: it replaces clock, network and random source. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { counted } from '#shared/counted.ts';
import { isLong } from '../kit/is-long.ts';

const main = join(import.meta.dirname, 'main.ts');

const seeds = isLong ? 3 : 1;

/** A world takes some seconds of CPU, and many times that on an overloaded machine. */
const limitMs = 600_000;

/** They save a sixth of the CPU time of a world: its modules are found by path, and young objects are copied less often. */
const flags = [
  '--import',
  join(import.meta.dirname, '..', 'kit', 'own-modules.ts'),
  '--min-semi-space-size=16',
];

async function simulate(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, main, ...args]);
  return stdout;
}

test(
  'seeds of the simulated world lose, duplicate and leak nothing, and the first one has the same log again',
  async () => {
    const all = await simulate('--seed', '1', '--seeds', String(seeds), '--story');
    expect(all).toContain(`${counted(seeds, 'seed')} passed`);
    const [story = '', ending] = (await simulate('--seed', '1', '--seeds', '1', '--story')).split(
      /^1 seed(?= )/m,
    );
    expect([story, ending]).toEqual([expect.stringMatching(/^seed 1: /m), ' passed\n']);
    expect(all.slice(0, story.length)).toBe(story);
  },
  limitMs,
);
