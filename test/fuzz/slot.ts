/** The state of a fuzzing process, in a file: readable when the process hangs or has crashed. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

export interface Order {
  readonly name: string;
  readonly seed: number;
  /** Duration: seconds, or number of inputs. */
  readonly seconds?: number;
  readonly tries?: number;
  /** Limit of CPU time for one input, ms; unset: not measured. */
  readonly mostCpuMs?: number;
  /** Folder of instrumented files (Instrument.register); unset: none are kept. */
  readonly kept?: string;
  /** File of the current input. */
  readonly slot: string;
}

export interface Report {
  readonly summary: string;
  /** Null: nothing was found. */
  readonly problem: string | null;
  /** In base64. */
  readonly input: string;
}

/** Inputs so far, length of the current one. */
const headOctets = 8;

export class SlotWriter {
  readonly #file: number;
  readonly #head = Buffer.alloc(headOctets);
  #tries = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'w');
  }

  write(input: Buffer): void {
    this.#head.writeUInt32LE(++this.#tries % 2 ** 32, 0);
    this.#head.writeUInt32LE(input.length, 4);
    writeSync(this.#file, Buffer.concat([this.#head, input]), 0, headOctets + input.length, 0);
  }

  close(): void {
    closeSync(this.#file);
  }
}

export function readSlot(path: string): { readonly tries: number; readonly input: Buffer } {
  const octets = readFileSync(path);
  if (octets.length < headOctets) return { tries: 0, input: Buffer.alloc(0) };
  return {
    tries: octets.readUInt32LE(0),
    input: octets.subarray(headOctets, headOctets + octets.readUInt32LE(4)),
  };
}
