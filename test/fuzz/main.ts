/**
 * `npm run fuzz -- <target> [--seconds N] [--seed S]`: fuzzes one of the parsers, or `all`, each for N seconds. The
 * target runs in a separate process; its memory and progress are watched from outside.
 */
import { parseArgs } from 'node:util';
import { run } from './run.ts';
import { targets } from './targets.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
});

/** Limit of CPU time for one input, ms: the highest in three minutes per target was 52. Every run prints its own. */
const mostCpuMs = 2000;

const targetNames = Object.keys(targets);
const names = positionals[0] === 'all' ? targetNames : positionals;
const unknown = names.filter((name) => !targetNames.includes(name));
if (names.length === 0 || unknown.length > 0) {
  console.log(`Usage: npm run fuzz -- <${targetNames.join('|')}|all> [--seconds N] [--seed S]`);
  process.exit(2);
}
for (const name of names) {
  const { summary, problem, input } = await run({
    name,
    seed: Number(values.seed),
    seconds: Number(values.seconds),
    mostCpuMs,
  });
  console.log(`${name}: ${summary}${problem ? ', FAILED' : ''}`);
  if (!problem) continue;
  process.exitCode = 1;
  console.log(`${problem.slice(0, 2000)}\ninput: Buffer.from('${input.toString('base64')}', 'base64')`);
  console.log(`that is ${JSON.stringify(input.toString('latin1').slice(0, 2000))}`);
}
