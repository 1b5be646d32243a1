import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-wasm-code-'));
});

afterAll(() => rm(folder, { recursive: true }));

/** What V8 says of its collections of WebAssembly code while a voice detector runs. */
async function collections(before: string): Promise<string> {
  const file = join(folder, 'script.mjs');
  await writeFile(
    file,
    `const { WebrtcDetectors } = await import('${root}/edge/agent/ears/webrtc-detector.ts');
    const detectors = new WebrtcDetectors();
    await detectors.load();
    ${before}
    const gate = detectors.gate(8000, 3);
    for (let frame = 0; frame < 2000; frame += 1) gate.hears(new Int16Array(160).fill(frame));`,
  );
  const args = ['--stress-wasm-code-gc', '--trace-wasm-code-gc', file];
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') };
  const collected = () => run(process.execPath, args, { env, maxBuffer: 10e6 });
  // Node's reader of TypeScript is WebAssembly, too; the second time nothing is left for it to do.
  await collected();
  return (await collected()).stdout;
}

it('V8 frees no code of WebAssembly', async () => {
  expect(await collections('')).toBe('');
});

it('V8 says so when it frees some', async () => {
  const undone = "(await import('node:v8')).setFlagsFromString('--wasm-code-gc');";
  expect(await collections(undone)).toContain('[wasm-gc]');
});

it.each([
  'edge/agent/ears/webrtc-detector.ts',
  'shared/models/flite-worker.ts',
  'control/tools/code-worker.ts',
])('%s, which runs WebAssembly, asks for it', async (file) => {
  expect(await readFile(join(root, file), 'utf8')).toMatch(/^ *keepWasmCode\(\);$/m);
});
