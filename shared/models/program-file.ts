/**
 * Loads a WebAssembly program without the data that its memory begins with. An engine keeps the octets of a compiled
 * program for good, and copies its data into the memory of each run. Here the data stays in the file, and the operating
 * system's cache keeps it; each run reads it.
 *
 *     file:  header | types, imports, code … | data (1) (2) | symbols for debuggers
 *            \______ compiled ______________/  \_ read by each run
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Octets of the file that belong into the program's memory before it starts. */
export interface InitialData {
  readonly memoryOffset: number;
  readonly fileOffset: number;
  readonly length: number;
}

export interface ProgramFile {
  /** Its data is missing. */
  readonly module: WebAssembly.Module;
  readonly data: readonly InitialData[];
  /** Open until `close`: the data stays that of the compiled code when the file is replaced. */
  readonly fd: number;
  /** To be called once, when no run reads any more. */
  close(): void;
}

const magic = Buffer.from('\0asm');
const headerLength = 8;
const customSection = 0;
const dataSection = 11;
const constantI32 = 0x41;
const endOfExpression = 0x0b;
/** More than the numbers before a section or a piece of data take. */
const prefixOctets = 24;

/** @throws Error when the file cannot be read or is not such a program */
export async function openProgram(path: string): Promise<ProgramFile> {
  const fd = openSync(path, 'r');
  try {
    const { code, data } = split(fd);
    const module = await WebAssembly.compile(code);
    return { module, data, fd, close: () => closeSync(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Reads it without compiling it. @throws Error as `openProgram` does, but for what only its compiler finds */
export function checkProgram(path: string): void {
  const fd = openSync(path, 'r');
  try {
    const { code } = split(fd);
    if (!code.subarray(0, magic.length).equals(magic)) throw new Error('it is not a WebAssembly program');
  } finally {
    closeSync(fd);
  }
}

function split(fd: number): { code: Buffer<ArrayBuffer>; data: InitialData[] } {
  const { size } = fstatSync(fd);
  const kept = [read(fd, 0, headerLength)];
  const data: InitialData[] = [];
  for (let at = headerLength; at < size; ) {
    const prefix = new Prefix(read(fd, at, Math.min(prefixOctets, size - at)));
    const id = prefix.octet();
    const length = prefix.number();
    const body = at + prefix.length;
    const end = body + length;
    if (id === dataSection) data.push(...dataOf(fd, body, size));
    else if (id !== customSection) kept.push(read(fd, at, end - at));
    at = end;
  }
  return { code: Buffer.concat(kept), data };
}

/** The pieces of the data section: each at a fixed place of the memory. */
function dataOf(fd: number, begin: number, size: number): InitialData[] {
  const prefixAt = (at: number) => new Prefix(read(fd, at, Math.min(prefixOctets, Math.max(0, size - at))));
  const first = prefixAt(begin);
  const count = first.number();
  const pieces: InitialData[] = [];
  for (let at = begin + first.length; pieces.length < count; ) {
    const prefix = prefixAt(at);
    if (prefix.octet() !== 0 || prefix.octet() !== constantI32)
      throw new Error('the program places its data in a way that is not supported');
    const memoryOffset = prefix.number();
    if (prefix.octet() !== endOfExpression)
      throw new Error('the program places its data in a way that is not supported');
    const length = prefix.number();
    const fileOffset = at + prefix.length;
    if (fileOffset + length > size) throw new Error('the program ends too early');
    pieces.push({ memoryOffset, fileOffset, length });
    at = fileOffset + length;
  }
  return pieces;
}

function read(fd: number, position: number, length: number): Buffer<ArrayBuffer> {
  const octets = Buffer.alloc(length);
  if (readSync(fd, octets, 0, length, position) < length) throw new Error('the program ends too early');
  return octets;
}

/** Reads numbers one after another. */
class Prefix {
  readonly #octets: Uint8Array;
  /** Octets read so far. */
  length = 0;

  constructor(octets: Uint8Array) {
    this.#octets = octets;
  }

  octet(): number {
    const octet = this.#octets[this.length++];
    if (octet === undefined) throw new Error('the program ends too early');
    return octet;
  }

  /** LEB128: seven bits an octet, the lowest first. */
  number(): number {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 28; factor *= 128) {
      const octet = this.octet();
      value += (octet & 0x7f) * factor;
      if (octet < 0x80) return value;
    }
    throw new Error('the program has a number that is too large');
  }
}
