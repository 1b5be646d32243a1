/** Silero whose answers come a given number of frames late, or not at all. */
import type { SecondStage } from '../../../edge/agent/ears/two-stage-detector.ts';

export class LateSilero implements SecondStage {
  readonly #silero: SecondStage;
  #frame = 0;
  #answers: { readonly due: number; readonly tell: () => void }[] = [];
  /** Of answers from now on. */
  lateFrames: number;

  constructor(silero: SecondStage, lateFrames: number) {
    this.#silero = silero;
    this.lateFrames = lateFrames;
  }

  get state() {
    return this.#silero.state;
  }

  open() {
    const stream = this.#silero.open();
    return {
      ...stream,
      write: (chunk: Float32Array, judged: (probability: number | null) => void) =>
        stream.write(chunk, (probability) =>
          this.#answers.push({ due: this.#frame + this.lateFrames, tell: () => judged(probability) }),
        ),
    };
  }

  /** A frame has passed, and all chunks so far are judged. */
  pass(): void {
    const due = this.#answers.filter((one) => one.due <= this.#frame);
    this.#answers = this.#answers.filter((one) => one.due > this.#frame);
    this.#frame++;
    for (const { tell } of due) tell();
  }

  close(): Promise<void> {
    return this.#silero.close();
  }
}
