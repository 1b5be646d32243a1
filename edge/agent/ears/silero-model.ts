/** Silero VAD 6.2.1, a neural network that tells voices from noise and music, for many streams at once. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { chunkSamples } from './silero-messages.ts';

const sampleRate = 16_000;
/** Samples of the chunk before that the network looks at again. */
const contextSamples = 64;
const inputSamples = contextSamples + chunkSamples;
/** The network's memory of a stream: two layers of these. */
const layer = 128;
const modelHash = '1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3';

interface Stream {
  readonly context: Float32Array;
  readonly memory: Float32Array;
}

export class SileroModel {
  readonly #session: import('onnxruntime-node').InferenceSession;
  readonly #runtime: typeof import('onnxruntime-node');
  readonly #streams = new Map<number, Stream>();

  private constructor(
    runtime: typeof import('onnxruntime-node'),
    session: import('onnxruntime-node').InferenceSession,
  ) {
    this.#runtime = runtime;
    this.#session = session;
  }

  /** @throws when onnxruntime-node or the model is missing, or the model is another one */
  static async load(): Promise<SileroModel> {
    const require = createRequire(import.meta.url);
    const file = join(
      dirname(require.resolve('@ricky0123/vad-web/package.json')),
      'dist',
      'silero_vad_v6.onnx',
    );
    const model = await readFile(file);
    const hash = createHash('sha256').update(model).digest('hex');
    if (hash !== modelHash) throw new Error(`${file} is not Silero VAD 6.2.1: its SHA-256 is ${hash}`);
    const runtime = await import('onnxruntime-node');
    const session = await runtime.InferenceSession.create(model, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
    });
    return new SileroModel(runtime, session);
  }

  /** Forgets the sound of a stream so far. */
  forget(stream: number): void {
    this.#streams.delete(stream);
  }

  /**
   * Probabilities of a voice in chunks of different streams.
   * @param places where in `samples` the chunk of each stream begins
   */
  async judge(
    streams: readonly number[],
    samples: Float32Array,
    places: readonly number[],
  ): Promise<Float32Array> {
    const { Tensor } = this.#runtime;
    const count = streams.length;
    const input = new Float32Array(count * inputSamples);
    const memory = new Float32Array(2 * count * layer);
    const known = streams.map((stream) => this.#stream(stream));
    for (const [i, one] of known.entries()) {
      const place = places[i] ?? 0;
      const chunk = samples.subarray(place, place + chunkSamples);
      input.set(one.context, i * inputSamples);
      input.set(chunk, i * inputSamples + contextSamples);
      one.context.set(chunk.subarray(chunkSamples - contextSamples));
      for (const part of [0, 1])
        memory.set(one.memory.subarray(part * layer, (part + 1) * layer), (part * count + i) * layer);
    }
    const result = await this.#session.run({
      input: new Tensor('float32', input, [count, inputSamples]),
      state: new Tensor('float32', memory, [2, count, layer]),
      sr: new Tensor('int64', BigInt64Array.of(BigInt(sampleRate)), []),
    });
    const after = result.stateN?.data;
    const output = result.output?.data;
    if (!(after instanceof Float32Array) || !(output instanceof Float32Array))
      throw new Error('Silero VAD gave no numbers');
    for (const [i, one] of known.entries())
      for (const part of [0, 1]) {
        const from = (part * count + i) * layer;
        one.memory.set(after.subarray(from, from + layer), part * layer);
      }
    return output;
  }

  #stream(id: number): Stream {
    let stream = this.#streams.get(id);
    if (!stream) {
      stream = { context: new Float32Array(contextSamples), memory: new Float32Array(2 * layer) };
      this.#streams.set(id, stream);
    }
    return stream;
  }
}
