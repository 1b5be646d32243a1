/**
 * `trunkline agent-test --pathway ID --wait --junit out.xml`: runs the test scenarios of a pathway on a server and
 * prints the results, for a person and for CI. Exit code 0: all passed; 1: some did not; 2: an error of the command or
 * the server.
 */

import { writeFile } from 'node:fs/promises';
import { counted } from '#shared/counted.ts';
import type { Trunkline } from '../clients/typescript/src/index.ts';
import { annotations } from './agent-test/annotations.ts';
import { type Batch, followed, scenarioIds, startBatch, subjectName } from './agent-test/api.ts';
import { junit } from './agent-test/junit.ts';
import { followedLoad, isLoadEnough, loadJunit, loadLines, startLoad } from './agent-test/load.ts';
import { type Options, readOptions, usage } from './agent-test/options.ts';
import { byScenario, isEnough, repeatLines } from './agent-test/repeats.ts';
import { resultTable } from './agent-test/table.ts';
import { clientOf } from './connection.ts';
import { Trouble } from './setup/trouble.mjs';

const exit = { passed: 0, failed: 1, trouble: 2 };

try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') console.log(usage);
  else process.exitCode = await run(options);
} catch (error) {
  console.error(error instanceof Trouble ? `trunkline: ${error.message}` : error);
  process.exitCode = exit.trouble;
}

async function run(options: Options): Promise<number> {
  const client = await clientOf(options);
  const ids = await scenarioIds(client, options);
  const say = sayer(options);
  if (options.load !== null) return loaded(client, options, ids);
  const batches: Batch[] = [];
  for (let repeat = 0; repeat < options.repeats; repeat++) {
    // Each scenario of a batch has a seed of its own, one after the other.
    const seed = options.seed === null ? null : options.seed + repeat * ids.length;
    const batchId = await startBatch(client, { ...options, seed }, ids);
    say(`batch ${batchId}: ${counted(ids.length, 'scenario')}`);
    if (!options.wait) return exit.passed;
    const batch = await followed(client, batchId, options.timeoutMs);
    say(resultTable(batch));
    batches.push(batch);
  }
  const results = byScenario(batches);
  if (options.repeats > 1) say(repeatLines(results).join('\n'));
  if (options.annotations) for (const line of annotations(results)) say(line);
  if (options.junit !== null) {
    const subject = await subjectName(client, options.subject);
    await save(options.junit, junit(merged(batches), subject));
  }
  const passed = isEnough(results, options.failUnder);
  if (options.failUnder < 100)
    say(`${options.failUnder} % of the scenarios are asked for: ${passed ? 'enough' : 'too few'} passed`);
  if (options.json) console.log(JSON.stringify({ passed, batches }, null, 2));
  return passed ? exit.passed : exit.failed;
}

async function loaded(client: Trunkline, options: Options, ids: readonly string[]): Promise<number> {
  const say = sayer(options);
  const id = await startLoad(client, options, ids);
  say(`load ${id}: ${counted(ids.length, 'scenario')}`);
  const load = await followedLoad(client, id, options.timeoutMs);
  say(loadLines(load).join('\n'));
  if (options.junit !== null) {
    const subject = await subjectName(client, options.subject);
    await save(options.junit, loadJunit(load, subject, options.failUnder));
  }
  const passed = isLoadEnough(load, options.failUnder);
  if (options.json) console.log(JSON.stringify({ passed, load }, null, 2));
  return passed ? exit.passed : exit.failed;
}

/** Lines for people: beside the JSON, if that was asked for. */
function sayer({ json }: Options): (line: string) => void {
  return json ? (line) => console.error(line) : (line) => console.log(line);
}

/** All runs as one batch: the first one's, until the last one's end. */
function merged(batches: readonly Batch[]): Batch {
  const [first] = batches;
  if (!first) throw new Error('there was no batch');
  const completed_at = batches.at(-1)?.completed_at ?? null;
  return { ...first, completed_at, runs: batches.flatMap(({ runs }) => runs) };
}

async function save(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((error: Error) => {
    throw new Trouble(`cannot write ${file}`, error.message, 'name a file in a folder that exists');
  });
}
