/**
 * `npm run simulate -- [--seeds N] [--seed S] [--story]`: runs the simulated world for N seeds, starting at S. A seed
 * that violates an invariant is printed with the command to repeat it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { counted } from '#shared/counted.ts';
import { createAuthority } from '../kit/fakes/certificates.ts';
import { Died } from './edge-machine.ts';
import { SimNetwork, takeNetwork } from './network.ts';
import { Random, takeChance } from './random.ts';
import { SimTime, takeTimers } from './time.ts';
import { World } from './world.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    story: { type: 'boolean', default: false },
  },
});

function integer(name: 'seeds' | 'seed'): number {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= 0) return number;
  throw new Error(`--${name} is ${JSON.stringify(values[name])}: give an integer that is not negative`);
}

/** Libraries keep timers and sockets of the process, so each seed gets its own time and network. */
async function run(seed: number, tls: { cert: string; key: string; ca: string }): Promise<string[]> {
  const time = new SimTime();
  const random = new Random(seed);
  const network = new SimNetwork(time, random);
  takeTimers(time);
  takeNetwork(network);
  takeChance(new Random(~seed));
  const story: string[] = [];
  const note = (line: string) => {
    const told = `${(time.now / 1000).toFixed(3)} ${line}`;
    story.push(told);
    if (values.story) console.log(told);
  };
  const problems: string[] = [];
  const problem = (error: unknown) =>
    problems.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  // A process that crashes during its work throws; nothing else may, and the run itself completes.
  const stray = (error: unknown) => {
    if (!(error instanceof Died)) problem(error);
  };
  process.on('uncaughtException', stray);
  process.on('unhandledRejection', stray);
  try {
    const { calls, steps } = await new World({ seed, time, network, random, tls, note }).live();
    console.log(`seed ${seed}: ${calls} calls, ${steps} steps`);
  } catch (error) {
    problem(error);
  } finally {
    process.off('uncaughtException', stray);
    process.off('unhandledRejection', stray);
  }
  return problems;
}

const folder = mkdtempSync(join(tmpdir(), 'simulation-tls-'));
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const authority = createAuthority();
const server = authority.issue({ names: ['IP:10.0.0.1'] });
const tls = {
  cert: file('cert.pem', server.cert),
  key: file('key.pem', server.key),
  ca: file('ca.pem', authority.cert),
};
const failed: number[] = [];
const first = integer('seed');
const count = integer('seeds');
for (let seed = first; seed < first + count; seed++) {
  const problems = await run(seed, tls);
  if (problems.length === 0) continue;
  failed.push(seed);
  console.log(
    `seed ${seed} FAILED\n${problems.join('\n')}\nagain: npm run simulate -- --seeds 1 --seed ${seed} --story`,
  );
}
rmSync(folder, { recursive: true });
console.log(
  failed.length === 0
    ? `${counted(count, 'seed')} passed`
    : `${failed.length} of ${count} seeds failed: ${failed.join(' ')}`,
);
// Sockets and timers of libraries belong to the world, which has ended.
process.exit(failed.length === 0 ? 0 : 1);
