/** What a process of the tests finds compiled after scripts/compile-tests.ts. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { workerFlags } from './worker-flags.ts';

const root = dirname(import.meta.dirname);
let cache: string;

beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'trunkline-compiled-'));
});
afterAll(() => rm(cache, { recursive: true }));

/** What Node says of its cache while it runs this. */
async function run(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, NODE_COMPILE_CACHE: cache, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
  const { stderr } = await promisify(execFile)(process.execPath, [...workerFlags, ...args], {
    cwd: root,
    env,
    maxBuffer: 10e6,
  });
  return stderr;
}

const module = 'outgoing/reading-budget.ts';
const taken = new RegExp(`V8 code cache for ESM file://\\S*/${module} was accepted`);

it('a source is compiled for the processes of the tests without running it, with its types removed', async () => {
  const load = ['--import', './shared/own-modules.ts', module];
  const compiling = await run('scripts/compile-tests.ts', 'outgoing');
  expect(compiling).not.toMatch(taken);
  expect(await run(...load)).toMatch(taken);
});
