/**
 * One call's ear: when the caller speaks, and for how long.
 *
 *     received --> detector --voice--> echo guard --not our own--> activity --> events
 *     sent ---------------------------------^
 */
import { Activity } from './activity.ts';
import { EchoGuard } from './echo-guard.ts';
import type { Judged, VoiceDetector, VoiceDetectors } from './voice-detector.ts';

export interface EarEvents {
  /** A sound with which a word may begin: mostly, `begins` follows within 200 ms. Some are coughs. */
  firstSound(): void;
  /** A stretch of voice begins. @param lateMs since the sound by which it was noticed */
  begins(lateMs: number): void;
  /** The voice goes on; called for each of its frames. @param ms of voice in this stretch */
  voiced(ms: number): void;
  /** The stretch is over: there was no voice for a while. */
  paused(): void;
}

export class Ear {
  readonly #detectors: VoiceDetectors;
  readonly #sampleRate: 8000 | 16000;
  readonly #events: EarEvents;
  readonly #activity: Activity;
  readonly #guard = new EchoGuard();
  #detector: VoiceDetector | null = null;
  #closed = false;

  constructor(detectors: VoiceDetectors, sampleRate: 8000 | 16000, events: EarEvents) {
    this.#detectors = detectors;
    this.#activity = new Activity(detectors.limits);
    this.#sampleRate = sampleRate;
    this.#events = events;
  }

  /** Loads the detector. Rejects when that fails. */
  async prepare(): Promise<void> {
    await this.#detectors.load();
    if (this.#closed) return;
    this.#detector ??= this.#detectors.create(
      this.#sampleRate,
      (...judged) => this.#judged(...judged),
      () => this.#firstSound(),
    );
  }

  /** Whether the caller speaks, short gaps included. */
  get voice(): boolean {
    return this.#activity.voice;
  }

  /** Whether the caller has spoken since `forget`. */
  get spoken(): boolean {
    return this.#activity.spoken;
  }

  /** ms since the caller's voice; 0 while it sounds. */
  get quietMs(): number {
    return this.#activity.quietMs;
  }

  /** Takes the frame that is sent to the caller; null: silence. */
  sent(frame: Int16Array | null): void {
    this.#guard.sent(frame);
  }

  write(frame: Int16Array): void {
    this.#guard.received(frame);
    this.#detector?.write(frame);
  }

  /** The caller's turn is over. A voice that still sounds ends with it: who waits for its pause would wait forever. */
  forget(): void {
    const { voice } = this.#activity;
    this.#activity.forget();
    if (voice) this.#events.paused();
  }

  close(): void {
    this.#closed = true;
    this.#detector?.close();
    this.#detector = null;
  }

  #firstSound(): void {
    if (!this.#activity.voice && this.#guard.isOthers) this.#events.firstSound();
  }

  #judged(...[ms, probability, since, noisy]: Parameters<Judged>): void {
    const activity = this.#activity;
    const { stays } = this.#detectors.limits;
    const before = activity.voice;
    const ours = probability >= stays && this.#guard.isEcho(since);
    if (activity.take(ms, ours ? 0 : probability, noisy)) this.#events.begins(since * 20);
    if (activity.voice && activity.quietMs === 0) this.#events.voiced(activity.voicedMs);
    else if (before && !activity.voice) this.#events.paused();
  }
}
