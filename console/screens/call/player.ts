/** Plays parts of a call's recording, and moves the axis along. The browser fetches the parts by Range. */
import { signal } from '@preact/signals';
import { send } from '../../api/client.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import type { Axis, Span } from './times.ts';

/** All that follows the cursor is drawn again when it moves: not at each frame, ms of the call. */
const stepMs = 40;

export class Player {
  readonly playing = signal(false);
  readonly problem = signal<Problem | null>(null);
  readonly #callId: string;
  readonly #axis: Axis;
  /** Of the recording on the axis, ms. */
  readonly #span: Span;
  readonly #audio = new Audio();
  #endMs = Number.POSITIVE_INFINITY;
  #frame = 0;

  constructor(callId: string, span: Span, axis: Axis) {
    this.#callId = callId;
    this.#span = span;
    this.#axis = axis;
    this.#audio.preload = 'none';
    this.#audio.src = `/v1/calls/${encodeURIComponent(callId)}/recording?format=wav`;
    this.#audio.onplaying = () => this.#follow();
    this.#audio.onpause = () => this.#stopped();
    this.#audio.onended = () => this.#stopped();
    this.#audio.onerror = () => void this.#failed();
  }

  /** Plays a part of the call, or from a moment on; what is outside the recording is left out. */
  play({ fromMs, toMs = this.#span.toMs }: { readonly fromMs: number; readonly toMs?: number }): void {
    const from = Math.max(fromMs, this.#span.fromMs);
    if (from >= Math.min(toMs, this.#span.toMs)) return;
    this.problem.value = null;
    this.#endMs = toMs;
    this.#axis.pointed.value = from;
    this.#audio.currentTime = (from - this.#span.fromMs) / 1000;
    this.playing.value = true;
    // Why it cannot be played is asked for in onerror; a pause before it began is no failure.
    this.#audio.play().catch(() => this.#stopped());
  }

  pause(): void {
    this.#audio.pause();
  }

  /** Also ends what is being fetched. */
  close(): void {
    cancelAnimationFrame(this.#frame);
    this.#audio.onerror = null;
    this.#audio.pause();
    this.#audio.removeAttribute('src');
    this.#audio.load();
  }

  #follow(): void {
    cancelAnimationFrame(this.#frame);
    const atMs = this.#span.fromMs + this.#audio.currentTime * 1000;
    if (atMs >= this.#endMs) {
      this.#axis.pointed.value = this.#endMs;
      this.pause();
      return;
    }
    if (Math.abs(atMs - (this.#axis.pointed.peek() ?? 0)) >= stepMs) this.#axis.pointed.value = atMs;
    if (!this.#audio.paused) this.#frame = requestAnimationFrame(() => this.#follow());
  }

  #stopped(): void {
    cancelAnimationFrame(this.#frame);
    this.playing.value = false;
  }

  /** The element does not say what the API answered. */
  async #failed(): Promise<void> {
    this.#stopped();
    try {
      const path = { call_id: this.#callId };
      await send('GET /v1/calls/{call_id}/recording', { path, headers: { range: 'bytes=0-0' } });
    } catch (error) {
      this.problem.value = problemOf(error);
    }
    // An element that failed does not try again by itself.
    this.#audio.load();
  }
}
