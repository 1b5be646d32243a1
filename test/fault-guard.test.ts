/** After an uncaught error a program writes a report, drains, and exits with 70. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-fault-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const guard = join(import.meta.dirname, '..', 'shared', 'fault-guard.ts');

async function run(fault: string, drain: string): Promise<{ code: number | null; output: string }> {
  const script = join(folder, 'program.mjs');
  writeFileSync(
    script,
    `import { guardProgram } from ${JSON.stringify(guard)};
    guardProgram({ program: 'control', version: '1.2.3' }).attach({
      dataFolder: ${JSON.stringify(folder)}, drainMs: 200,
      underWay: () => ({ calls: 3 }), log: () => undefined, drain: ${drain},
    });
    setInterval(() => undefined, 1000);
    ${fault}`,
  );
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = await once(child, 'close');
  return { code, output };
}

const reports = () => readdirSync(join(folder, 'faults'));

it.each([
  ['uncaughtException', "setTimeout(() => { throw new Error('broken, password=hunter22'); });"],
  ['unhandledRejection', "void Promise.reject(new Error('broken, password=hunter22'));"],
])('reports an %s, drains and exits with 70', async (kind, fault) => {
  const { code, output } = await run(fault, "async () => console.log('drained')");
  expect({ code, output }).toEqual({ code: 70, output: 'drained\n' });
  const text = readFileSync(join(folder, 'faults', reports()[0] ?? ''), 'utf8');
  expect(JSON.parse(text)).toMatchObject({
    program: 'control',
    kind,
    version: '1.2.3',
    underWay: { calls: 3 },
  });
  expect(text).toContain('program.mjs');
  expect(text).not.toContain('hunter22');
});

it('exits in time when the drain hangs and other errors follow', async () => {
  const drain = "() => { setTimeout(() => { throw new Error('again'); }, 10); return new Promise(() => 0); }";
  expect((await run("setTimeout(() => { throw new Error('first'); });", drain)).code).toBe(70);
  expect(reports()).toHaveLength(2);
});

it('keeps the last 50 reports', async () => {
  await run(
    "for (let n = 0; n < 60; n++) setTimeout(() => { throw new Error('x'); }, n);",
    '() => new Promise(() => 0)',
  );
  expect(reports().length).toBeLessThanOrEqual(50);
});
