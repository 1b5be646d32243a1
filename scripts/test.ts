/**
 * `npm test`: set-up with the test peers, static checks, tests with the real programs, then unit tests; `npm run test-long`
 * (`--long`) the same with the long tests (test/kit/long-test.ts).
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChecks, runTool } from './checks.ts';
import { setUp } from './setup/steps.ts';
import { reportTrouble } from './setup/trouble.mjs';

await reportTrouble(async () => {
  await setUp({ peers: true });
  const checked = await runChecks();
  const args = process.argv.slice(2).filter((arg) => arg !== '--long');
  const long = args.length < process.argv.length - 2;
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-test-'));
  try {
    const result = join(folder, 'result.json');
    const code = await runTool(
      'vitest',
      ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${result}`, ...args],
      { TRUNKLINE_TEST_LONG: String(long) },
    );
    const { passed, failed } = await counts(result, code);
    const all = failed + (checked ? 0 : 1);
    if (!checked) console.log('the static checks failed: see above');
    console.log(`${passed} passed, ${all} failed`);
    process.exitCode = all === 0 && code === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

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
