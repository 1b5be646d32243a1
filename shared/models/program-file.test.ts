/** Programs are written here octet by octet, as the WebAssembly specification numbers their sections. */
import { readSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkProgram, openProgram } from './program-file.ts';

const header = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
/** One memory of one page, exported as `m`. */
const memory = [5, 3, 1, 0, 1, 7, 5, 1, 1, 0x6d, 2, 0];
const symbols = [0, 3, 1, 0x64, 0xff];
/** `text` at 3, and 300 octets at 1024. */
const text = [...Buffer.from('text')];
const long = Array.from({ length: 300 }, (_, index) => index % 251);
const data = [11, 0xbd, 2, 2, 0, 0x41, 3, 0x0b, 4, ...text, 0, 0x41, 0x80, 8, 0x0b, 0xac, 2, ...long];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-program-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(octets: readonly number[]): Promise<string> {
  const path = join(folder, 'program.wasm');
  await writeFile(path, Uint8Array.from(octets));
  return path;
}

describe('a program file', () => {
  test('is compiled without its data and symbols, which say where they are', async () => {
    const program = await openProgram(await file([...header, ...memory, ...data, ...symbols]));
    try {
      const { exports } = await WebAssembly.instantiate(program.module, {});
      if (!(exports.m instanceof WebAssembly.Memory)) throw new Error('no memory');
      expect(new Uint8Array(exports.m.buffer).every((octet) => octet === 0)).toBe(true);
      const pieces = program.data.map(({ memoryOffset, fileOffset, length }) => {
        const octets = new Uint8Array(length);
        readSync(program.fd, octets, 0, length, fileOffset);
        return { memoryOffset, octets: [...octets] };
      });
      expect(pieces).toEqual([
        { memoryOffset: 3, octets: text },
        { memoryOffset: 1024, octets: long },
      ]);
    } finally {
      program.close();
    }
  });

  test.each([
    ['is no program', [1, 2, 3, 4, 5, 6, 7, 8], 'expected magic word'],
    ['ends in its header', [0, 0x61], 'ends too early'],
    ['ends in a section', [...header, 5, 9, 1], 'ends too early'],
    ['ends before its data', [...header, ...memory, 11, 2, 1], 'ends too early'],
    ['ends in its data', [...header, ...memory, ...data.slice(0, -1)], 'ends too early'],
    ['has data for a computed place', [...header, ...memory, 11, 5, 1, 0, 0x23, 0, 0x0b], 'not supported'],
    ['has data for later', [...header, ...memory, 11, 3, 1, 1, 0], 'not supported'],
    ['has a number without end', [...header, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 'too large'],
  ])('that %s is rejected', async (_what, octets, problem) => {
    const path = await file(octets);
    await expect(openProgram(path)).rejects.toThrow(problem);
    expect(() => checkProgram(path)).toThrow(problem.startsWith('expected') ? 'no' : problem);
  });

  test('is checked without being compiled', async () => {
    checkProgram(await file([...header, ...memory, ...data, ...symbols]));
    expect(() => checkProgram(folder)).toThrow('EISDIR');
  });

  test('that is missing is rejected', async () => {
    await expect(openProgram(join(folder, 'none.wasm'))).rejects.toThrow('ENOENT');
  });
});
