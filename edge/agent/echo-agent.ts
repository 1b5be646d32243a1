import type { AgentLeg } from '../call/ports/agents.ts';

const heldFrames = 50;

/** Plays back what it hears, for line checks. Holds at most one second; older audio is dropped. */
export class EchoAgent implements AgentLeg {
  readonly sampleRate = 8000;
  readonly #ring = new Int16Array((this.sampleRate / 50) * heldFrames);
  #readAt = 0;
  #writeAt = 0;
  #held = 0;

  async prepare(): Promise<void> {}

  start(): void {}

  close(): void {
    this.#held = 0;
  }

  write(frame: Int16Array): void {
    const ring = this.#ring;
    for (let i = 0; i < frame.length; i++) {
      ring[this.#writeAt] = frame[i] ?? 0;
      this.#writeAt = this.#writeAt + 1 === ring.length ? 0 : this.#writeAt + 1;
    }
    this.#held += frame.length;
    if (this.#held > ring.length) {
      this.#held = ring.length;
      this.#readAt = this.#writeAt;
    }
  }

  read(frame: Int16Array): boolean {
    if (this.#held < frame.length) return false;
    const ring = this.#ring;
    for (let i = 0; i < frame.length; i++) {
      frame[i] = ring[this.#readAt] ?? 0;
      this.#readAt = this.#readAt + 1 === ring.length ? 0 : this.#readAt + 1;
    }
    this.#held -= frame.length;
    return true;
  }
}
