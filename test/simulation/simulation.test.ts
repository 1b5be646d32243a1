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
  'three seeds lose, duplicate and leak nothing',
  async () => {
    expect(await simulate('--seed', '1', '--seeds', '3')).toMatch(/3 seeds passed/);
  },
  limitMs,
);

test(
  'a seed gives the same log each time',
  async () => {
    const story = () => simulate('--seed', '2', '--seeds', '1', '--story');
    expect(await story()).toBe(await story());
  },
  limitMs,
);
