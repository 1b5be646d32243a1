/**
 * What is said to one side of a leg without the other hearing it, text after text. It stands between the exchange of the
 * leg and its endpoint, as a supervisor's desk does, until everything is said.
 */
import { type AudioEndpoint, silence } from '../../call/ports/media.ts';
import { frameConverter } from '../codec/resample.ts';
import { MixLevel } from '../room/mixer.ts';

/** Samples of 20 ms of the words. */
const samples = 8000 / 50;

export class Prompter {
  readonly #side: 'near' | 'far';
  readonly #done: () => void;
  /** Those that are not said to their end. */
  readonly #texts: Int16Array[] = [];
  /** Samples of the first one that are said. */
  #said = 0;
  readonly #frame = new Int16Array(samples);

  /** @param done called once all is said, in the turn of the leg: it may not change what the leg is connected to */
  constructor(side: 'near' | 'far', done: () => void) {
    this.#side = side;
    this.#done = done;
  }

  get speaks(): boolean {
    return this.#texts.length > 0;
  }

  say(words: Int16Array): void {
    if (words.length > 0) this.#texts.push(words);
  }

  tap(endpoint: AudioEndpoint | null): AudioEndpoint {
    const far = endpoint ?? silence;
    const { sampleRate } = far;
    const add = this.#adderAt(sampleRate);
    if (this.#side === 'near')
      return {
        sampleRate,
        read: (frame) => {
          const sounds = far.read(frame);
          if (!sounds) frame.fill(0);
          return add(frame, frame) || sounds;
        },
        write: (frame) => far.write?.(frame),
        dtmf: (event) => far.dtmf?.(event),
      };
    const mixed = new Int16Array(sampleRate / 50);
    return {
      sampleRate,
      read: (frame) => far.read(frame),
      write: (frame) => far.write?.(add(frame, mixed) ? mixed : frame),
      dtmf: (event) => far.dtmf?.(event),
    };
  }

  /** Of a function that writes `frame` and the next 20 ms of the words to `out`. It returns false when there are none. */
  #adderAt(sampleRate: AudioEndpoint['sampleRate']): (frame: Int16Array, out: Int16Array) => boolean {
    const level = new MixLevel();
    const sum = new Int32Array(sampleRate / 50);
    const convert = frameConverter(8000, sampleRate);
    return (frame, out) => {
      if (!this.#next()) return false;
      const words = convert(this.#frame);
      for (let i = 0; i < sum.length; i++) sum[i] = (frame[i] ?? 0) + (words[i] ?? 0);
      level.mix(sum, null, out);
      return true;
    };
  }

  #next(): boolean {
    const [text] = this.#texts;
    if (!text) return false;
    this.#frame.fill(0);
    this.#frame.set(text.subarray(this.#said, this.#said + samples));
    this.#said += samples;
    if (this.#said < text.length) return true;
    this.#texts.shift();
    this.#said = 0;
    if (this.#texts.length === 0) this.#done();
    return true;
  }
}
