/** `npm run fuzz -- <target> [--seconds N] [--seed S]`: fuzzes one of the parsers, or `all`, each for N seconds. */
import { parseArgs } from 'node:util';
import { fuzz } from './fuzzer.ts';
import { targets } from './targets.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
});

const names = positionals[0] === 'all' ? Object.keys(targets) : positionals;
const unknown = names.filter((name) => !Object.hasOwn(targets, name));
if (names.length === 0 || unknown.length > 0) {
  console.log(`Usage: npm run fuzz -- <${Object.keys(targets).join('|')}|all> [--seconds N] [--seed S]`);
  process.exit(2);
}
for (const name of names) {
  const target = targets[name];
  if (!target) continue;
  const end = performance.now() + Number(values.seconds) * 1000;
  const { finding, tries, kept, blocks } = fuzz(target, Number(values.seed), () => performance.now() < end);
  console.log(`${name}: ${tries} inputs, ${kept} kept, ${blocks} blocks${finding ? ', FAILED' : ''}`);
  if (!finding) continue;
  process.exitCode = 1;
  console.log(`${finding.error.stack}\ninput: Buffer.from('${finding.input.toString('base64')}', 'base64')`);
  console.log(`that is ${JSON.stringify(finding.input.toString('latin1').slice(0, 2000))}`);
}
