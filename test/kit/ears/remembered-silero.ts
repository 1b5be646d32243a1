/**
 * Silero that judges the same sound once, for tests that hear a scene many times: a judgement depends on nothing but the
 * sound since the last reset.
 */
import { createHash } from 'node:crypto';
import type { SecondStage } from '../../../edge/agent/ears/two-stage-detector.ts';

export class RememberedSilero implements SecondStage {
  readonly #silero: SecondStage;
  /** By the hash of the sound up to the end of the chunk. */
  readonly #probabilities = new Map<string, number>();

  constructor(silero: SecondStage) {
    this.#silero = silero;
  }

  get state() {
    return this.#silero.state;
  }

  open() {
    const stream = this.#silero.open();
    let sound = '';
    /** Chunks that were not judged again, but belong before the first that is. */
    let before: Float32Array[] = [];
    return {
      ...stream,
      reset: () => {
        sound = '';
        before = [];
        stream.reset();
      },
      write: (chunk: Float32Array, judged: (probability: number | null) => void) => {
        sound = createHash('sha1').update(sound).update(chunk).digest('hex');
        const known = this.#probabilities.get(sound);
        if (known !== undefined) {
          before.push(chunk);
          judged(known);
          return;
        }
        for (const one of before.splice(0)) stream.write(one, () => undefined);
        const upToHere = sound;
        stream.write(chunk, (probability) => {
          if (probability !== null) this.#probabilities.set(upToHere, probability);
          judged(probability);
        });
      },
    };
  }

  close(): Promise<void> {
    return this.#silero.close();
  }
}
