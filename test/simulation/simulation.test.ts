/** Some seeds of the simulated world, in a process of its own: it replaces clock, network and chance for good. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const main = join(import.meta.dirname, 'main.ts');

/** A world is some seconds of one processor's work, and many times that on a machine that has too much to do. */
const limitMs = 600_000;

async function simulate(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args]);
  return stdout;
}

test(
  'nothing is lost, doubled or left in the worlds of three seeds',
  async () => {
    expect(await simulate('--seed', '1', '--seeds', '3')).toMatch(/3 seeds passed/);
  },
  limitMs,
);

test(
  'a seed tells the same story each time',
  async () => {
    const story = () => simulate('--seed', '2', '--seeds', '1', '--story');
    expect(await story()).toBe(await story());
  },
  limitMs,
);
