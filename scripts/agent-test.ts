/**
 * `trunkline agent-test --pathway ID --wait --junit out.xml`: runs the test scenarios of a pathway on a server and
 * prints the results, for a person and for CI. Exit code 0: all passed; 1: some did not; 2: an error of the command or
 * the server.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { counted } from '#shared/counted.ts';
import { startCommand } from '#shared/own-command.ts';
import { annotations } from './agent-test/annotations.ts';
import {
  type Batch,
  type Connection,
  connect,
  followed,
  scenarioIds,
  startBatch,
  subjectName,
} from './agent-test/api.ts';
import { junit } from './agent-test/junit.ts';
import { followedLoad, isLoadEnough, loadJunit, loadLines, startLoad } from './agent-test/load.ts';
import { type Options, readOptions, usage } from './agent-test/options.ts';
import { byScenario, isEnough, repeatLines } from './agent-test/repeats.ts';
import { resultTable } from './agent-test/table.ts';
import { Trouble } from './setup/trouble.mjs';
import { bootstrapFile, readBootstrap } from './supervisor/bootstrap.ts';

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
  const connection = await connectionOf(options);
  const ids = await scenarioIds(connection, options);
  const say = sayer(options);
  if (options.load !== null) return loaded(connection, options, ids);
  const batches: Batch[] = [];
  for (let repeat = 0; repeat < options.repeats; repeat++) {
    // Each scenario of a batch has a seed of its own, one after the other.
    const seed = options.seed === null ? null : options.seed + repeat * ids.length;
    const batchId = await startBatch(connection, { ...options, seed }, ids);
    say(`batch ${batchId}: ${counted(ids.length, 'scenario')}`);
    if (!options.wait) return exit.passed;
    const batch = await followed(connection, batchId, options.timeoutMs);
    say(resultTable(batch));
    batches.push(batch);
  }
  const results = byScenario(batches);
  if (options.repeats > 1) say(repeatLines(results).join('\n'));
  if (options.annotations) for (const line of annotations(results)) say(line);
  if (options.junit !== null) {
    const subject = await subjectName(connection, options.subject);
    await save(options.junit, junit(merged(batches), subject));
  }
  const passed = isEnough(results, options.failUnder);
  if (options.json) console.log(JSON.stringify({ passed, batches }, null, 2));
  return passed ? exit.passed : exit.failed;
}

async function loaded(connection: Connection, options: Options, ids: readonly string[]): Promise<number> {
  const say = sayer(options);
  const id = await startLoad(connection, options, ids);
  say(`load ${id}: ${counted(ids.length, 'scenario')}`);
  const load = await followedLoad(connection, id, options.timeoutMs);
  say(loadLines(load).join('\n'));
  if (options.junit !== null) {
    const subject = await subjectName(connection, options.subject);
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

/** The server's address and key: from the options, else from the environment or the first start. */
async function connectionOf({ keyFile, url }: Options): Promise<Connection> {
  const key =
    keyFile === null ? (process.env.TRUNKLINE_API_KEY ?? null) : keyIn(await readKeyFile(keyFile), keyFile);
  if (url !== null && key !== null) return connect(url, key);
  const file = bootstrapFile(process.env);
  const bootstrap = await readBootstrap(file).catch((error: Error) => {
    const missing = url === null ? '--url and a key' : 'a key';
    throw new Trouble(
      'cannot tell which server to ask',
      `${missing} was not given, and ${error.message}`,
      `give --url and --key-file (or TRUNKLINE_API_KEY), or run it where \`${startCommand()}\` was run`,
    );
  });
  return connect(url ?? bootstrap.control_url, key ?? bootstrap.api_key);
}

async function readKeyFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new Trouble(
      'cannot read the key',
      error.message,
      'name a file that holds an API key, or bootstrap.json',
    );
  });
}

/** The file contains the key, or is the `bootstrap.json` of a first start. */
function keyIn(text: string, file: string): string {
  const plain = text.trim();
  if (!plain.startsWith('{')) return plain;
  const { api_key } = JSON.parse(plain) as { api_key?: unknown };
  if (typeof api_key === 'string') return api_key;
  throw new Trouble('cannot read the key', `${file} has no api_key`, 'name a file that holds an API key');
}
