/**
 * The thread that runs flite: one WASI program run per text (the build exports only `_start`), which writes a WAV file
 * into a temporary folder.
 */
import { mkdirSync, readFileSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { WASI } from 'node:wasi';
import { parentPort, workerData } from 'node:worker_threads';
import { collectGarbage } from '../give-memory-back.ts';
import { keepWasmCode } from '../wasm-code.ts';
import type { FliteAnswer, FliteQuestion, FliteThreadData } from './flite.ts';
import { resample } from './resample.ts';
import { readWav } from './wav.ts';

keepWasmCode();

const { module, data, fd, folder } = workerData as FliteThreadData;

/** Pause after the last text until the memory of its run is given back, ms: texts of one call follow each other. */
const idleMs = 2000;
let idle: NodeJS.Timeout | undefined;

parentPort?.on('message', (question: FliteQuestion | null) => {
  clearTimeout(idle);
  if (question === null) {
    parentPort?.close();
    return;
  }
  answer(question)
    .finally(() => {
      clearTimeout(idle);
      idle = setTimeout(collectGarbage, idleMs).unref();
    })
    .then(
      (samples) => {
        const reply: FliteAnswer = { id: question.id, samples };
        parentPort?.postMessage(reply, [samples.buffer]);
      },
      (error: unknown) => {
        const reply: FliteAnswer = {
          id: question.id,
          error: error instanceof Error ? error.message : String(error),
          unreadable: error instanceof Unreadable,
        };
        parentPort?.postMessage(reply);
      },
    );
});

async function answer({ text, voice, sampleRate }: FliteQuestion): Promise<Int16Array<ArrayBuffer>> {
  mkdirSync(folder, { mode: 0o700 });
  try {
    const pcm = readWav(await speak(text, voice));
    return Int16Array.from(await resample(pcm.samples, pcm.sampleRate, sampleRate));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function speak(text: string, voice: string): Promise<Uint8Array> {
  const wasi = new WASI({
    version: 'preview1',
    args: ['flite', '-voice', voice, '-t', text, '-o', '/out/speech.wav'],
    preopens: { '/out': folder },
    returnOnExit: true,
  });
  let began = false;
  try {
    const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
    fill(instance.exports.memory);
    began = true;
    const status = wasi.start(instance);
    if (status !== 0) throw new Error(`flite ended with status ${status}`);
  } finally {
    // Its calls need a memory, which it has from `start` only.
    if (!began)
      wasi.finalizeBindings({ exports: {} }, { memory: new WebAssembly.Memory({ initial: 1, maximum: 1 }) });
    closeFolder(wasi);
  }
  return readFileSync(join(folder, 'speech.wav'));
}

/** The file of the program has changed. */
class Unreadable extends Error {}

/** Reads what the program's memory begins with. */
function fill(memory: unknown): void {
  if (!(memory instanceof WebAssembly.Memory)) throw new Error('the program shares no memory');
  for (const { memoryOffset, fileOffset, length } of data) {
    for (let done = 0; done < length; ) {
      const room = new Uint8Array(memory.buffer, memoryOffset + done, length - done);
      const octets = readSync(fd, room, 0, room.length, fileOffset + done);
      if (octets === 0) throw new Unreadable('the program ends too early');
      done += octets;
    }
  }
}

/** Node leaves it open for as long as the process runs. Descriptor 3 is the first of `preopens`. */
function closeFolder({ wasiImport }: WASI): void {
  const close: unknown = wasiImport.fd_close;
  if (typeof close === 'function') close(3);
}
