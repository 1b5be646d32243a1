/** Some seeds of the simulated world, in a separate process: it replaces clock, network and random source. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const main = join(import.meta.dirname, 'main.ts');

/** A world takes some seconds of CPU, and many times that on an overloaded machine. */
const limitMs = 600_000;

async function simulate(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args]);
  return stdout;
}

test(
  'three seeds lose, duplicate and leak nothing, and the first one has the same log again',
  async () => {
    const three = await simulate('--seed', '1', '--seeds', '3', '--story');
    expect(three).toMatch(/3 seeds passed/);
    const [story = '', ending] = (await simulate('--seed', '1', '--seeds', '1', '--story')).split(
      /^1 seeds/m,
    );
    expect([story, ending]).toEqual([expect.stringMatching(/^seed 1: /m), ' passed\n']);
    expect(three.slice(0, story.length)).toBe(story);
  },
  limitMs,
);
