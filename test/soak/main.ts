/** `npm run soak`: see docs/soak.md. Exits with 1 when a promise is broken or something leaks. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readOptions, type SoakOptions, usage } from './options.ts';
import { page } from './page.ts';
import { summary } from './report.ts';
import { Soak } from './soak.ts';

function options(): SoakOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}

const chosen = options();
const soak = new Soak(chosen, (line) => console.log(`${new Date().toISOString()} ${line}`));
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    // The second one ends it at once.
    if (interrupted) process.exit(130);
    interrupted = true;
    console.log('ending the load early; the report follows');
    soak.endEarly();
  });
process.on('exit', () => soak.kill());

const report = await soak.run();
const out = resolve(chosen.out);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'report.json'), `${JSON.stringify(report, null, 2)}\n`);
writeFileSync(join(out, 'report.html'), page(report, soak.series));
console.log(`\n${summary(report)}\n\nreport: ${join(out, 'report.html')}`);
process.exit(report.passed ? 0 : 1);
