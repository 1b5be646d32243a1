/**
 * `npm run bench [name...]`: runs test/bench/<name>.bench.ts one after the other, prints their tables and stores each
 * in its section of docs/performance.md, with a description of the machine; or alone on the page that it exports as
 * `page`, when the machine makes no difference.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeMachine } from './bench/machine.ts';
import { root } from './checks.ts';
import { setUp } from './setup/steps.ts';
import { reportTrouble, Trouble } from './setup/trouble.mjs';

const page = join(root, 'docs', 'performance.md');
const begin = '<!-- measured: begin -->';
const end = '<!-- measured: end -->';

await reportTrouble(async () => {
  await setUp({ peers: true });
  const chosen = process.argv.slice(2);
  for (const name of await benchmarks(chosen)) {
    console.log(`\nmeasuring: ${name}`);
    const { table, ownPage } = await measure(name);
    console.log(`\n${table}`);
    if (ownPage === null) await keep(name, `${describeMachine(new Date())}\n\n${table}`);
    else await replaceMeasured(ownPage, table);
    console.log(`\nsaved in ${ownPage ?? 'docs/performance.md'}`);
  }
});

async function benchmarks(chosen: readonly string[]): Promise<string[]> {
  const suffix = '.bench.ts';
  const files = await readdir(join(root, 'test', 'bench'));
  const names = files.filter((file) => file.endsWith(suffix)).map((file) => file.slice(0, -suffix.length));
  const unknown = chosen.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new Trouble(
      `there is no benchmark ${unknown.join(', ')}`,
      `available: ${names.join(', ')}`,
      'choose one of these',
    );
  }
  return names.filter((name) => chosen.length === 0 || chosen.includes(name)).sort();
}

/**
 * A benchmark exports `run...Bench`, which measures, and `format...Bench`, which formats the result as Markdown tables.
 * They run in this process one after the other, so that none disturbs another.
 */
async function measure(name: string): Promise<{ table: string; ownPage: string | null }> {
  const file = join(root, 'test', 'bench', `${name}.bench.ts`);
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  const exported = (pattern: RegExp) =>
    Object.entries(module).find(([key, value]) => pattern.test(key) && typeof value === 'function')?.[1] as
      | ((argument?: unknown) => unknown)
      | undefined;
  const run = exported(/^run\w*Bench$/);
  const format = exported(/^format\w*Bench$/);
  if (!run || !format) throw new Error(`${file} does not export run...Bench and format...Bench`);
  const table = String(format(await run()));
  return { table, ownPage: typeof module.page === 'string' ? module.page : null };
}

/** Writes a result into its section; other sections stay. */
async function keep(name: string, result: string): Promise<void> {
  const text = existsSync(page) ? await readFile(page, 'utf8') : `# Performance\n\n${begin}\n${end}\n`;
  const [before = '', rest = ''] = text.split(begin);
  const [measured = '', after = '\n'] = rest.split(end);
  const sections = new Map(
    measured.split(/^## /m).flatMap((section) => {
      const [, title, body] = /^(\S+)\n(.*)$/s.exec(section) ?? [];
      return title && body ? [[title, body.trim()] as const] : [];
    }),
  );
  sections.set(name, result);
  const sorted = [...sections].sort(([one], [other]) => (one < other ? -1 : 1));
  const kept = sorted.map(([title, body]) => `## ${title}\n\n${body}`).join('\n\n');
  await writeFile(page, `${before}${begin}\n\n${kept}\n\n${end}${after}`);
}

/** For a page with the tables of one benchmark. */
async function replaceMeasured(path: string, table: string): Promise<void> {
  const file = join(root, path);
  const [before = '', rest = ''] = (await readFile(file, 'utf8')).split(begin);
  const [, after = '\n'] = rest.split(end);
  await writeFile(file, `${before}${begin}\n\n${table}\n\n${end}${after}`);
}
