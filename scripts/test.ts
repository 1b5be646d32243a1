/**
 * `npm test`: set-up with the test peers, then tests with the real programs and unit tests, with the static checks beside
 * them; `npm run test-long` (`--long`) the same with the long tests (test/kit/long-test.ts).
 *
 * The tests wait now and then, for sound above all: on two cores the checks take 90 s of CPU, for which the tests leave room.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workerFlags } from '../test/worker-flags.ts';
import { root, runChecks, runProgram, runTool } from './checks.ts';
import { setUp } from './setup/steps.ts';
import { reportTrouble } from './setup/trouble.mjs';

await reportTrouble(async () => {
  await setUp({ peers: true });
  const args = process.argv.slice(2).filter((arg) => arg !== '--long');
  const long = args.length < process.argv.length - 2;
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-test-'));
  try {
    const result = join(folder, 'result.json');
    const said: string[] = [];
    const checks = runChecks((text) => said.push(text));
    await compileTests();
    const code = await runTool(
      'vitest',
      ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${result}`, ...args],
      { TRUNKLINE_TEST_LONG: String(long) },
    );
    const checked = await checks;
    process.stdout.write(said.join(''));
    const { passed, failed } = await counts(result, code);
    const all = failed + (checked ? 0 : 1);
    if (!checked) console.log('the static checks failed: see above');
    console.log(`${passed} passed, ${all} failed`);
    process.exitCode = all === 0 && code === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** Once for a checkout: what changes afterwards is compiled by the process that needs it. */
async function compileTests(): Promise<void> {
  const cache = process.env.NODE_COMPILE_CACHE;
  if (cache === undefined) return;
  const done = join(cache, `tests ${process.version} ${workerFlags.join(' ')}`);
  if (existsSync(done)) return;
  const code = await runProgram([...workerFlags, join(root, 'scripts', 'compile-tests.ts')]);
  // The tests say what is wrong with a source.
  if (code === 0) await writeFile(done, '');
}

/** A file that could not be loaded has no tests and counts as one failure; so does a run without a result. */
async function counts(file: string, code: number): Promise<{ passed: number; failed: number }> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return { passed: 0, failed: 1 };
  const result = JSON.parse(text) as {
    numPassedTests: number;
    numFailedTests: number;
    testResults: { status: string; assertionResults: unknown[] }[];
  };
  const unloaded = result.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  ).length;
  const failed = result.numFailedTests + unloaded;
  // Errors outside of any test make vitest fail without a failed test.
  return { passed: result.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
}
