/** The programs that tests start (test/kit/programs/built-programs.ts) use the compiled code of each other. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect } from 'vitest';
import { longTest } from './kit/long-test.ts';
import { builtProgram, giveFirstData } from './kit/programs/built-programs.ts';
import { freeTcpPort } from './kit/programs/ports.ts';

const root = join(import.meta.dirname, '..');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-built-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Starts control and ends it. Returns what Node says of its compiled code. */
async function started(path: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [builtProgram(join(root, path)).file, ...args], {
    env: {
      ...process.env,
      TRUNKLINE_DATA: folder,
      CONTROL_PORT: String(await freeTcpPort()),
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
      NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = text(child.stderr);
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('control plane is listening')) child.kill('SIGTERM');
  }
  if (child.exitCode === null) await once(child, 'exit');
  return said;
}

longTest('code that one start of control keeps is taken by the next, with replaced limits, too', async () => {
  giveFirstData(folder);
  const main = () => started('control/main.ts');
  const entry = () => started('test/kit/programs/control-entry.ts', '{}');
  // Each has some modules of its own.
  await main();
  await entry();
  for (const next of [await main(), await entry(), await main()]) {
    expect(next).toContain('was accepted');
    expect(next).not.toContain('was rejected');
  }
});
