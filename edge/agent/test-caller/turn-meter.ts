/**
 * Measures what a caller hears: when the agent starts and stops speaking, the latency after the caller's part, and the
 * overlap of both. Pure: for each 20 ms whether there is a voice (agent-voice.ts), and times in; numbers out.
 *
 *     caller  ====words====|                    |==
 *     agent                |..latency..|####..pause..####|...
 */
import type { HeardTurn } from '#shared/agent-test-protocol.ts';

const frameMs = 20;
/** A shorter voice is a click. */
const onsetMs = 60;
/** Longest gap within one stretch of speech. */
const breathMs = 400;
/** Gap after which a sound may be over. */
const shortGapMs = 40;

type Measures = Omit<HeardTurn, 'words'>;

export class TurnMeter {
  /** Start, and end so far, of the agent's current stretch of sound; null: silence. */
  #stretch: { from: number; to: number; counted: boolean } | null = null;
  readonly #answeredAt: number;
  /** End of the caller's part, or the answer time. */
  #since: number;
  #firstAt: number | null = null;
  #lastTo: number | null = null;
  #speechMs = 0;
  #silenceMs = 0;
  #overlapMs = 0;
  #callerSpeaks = false;
  /** When the caller's part of this turn began; null: not yet. */
  #callerBeganAt: number | null = null;
  /** The agent has reported since then that it starts to speak. */
  #agentBegan = false;
  #interruptedAt: number | null = null;
  #silentAfterMs: number | null = null;
  #barged = false;
  #carriedOver = false;
  /** Words that do not belong to the current stretch are on their way. */
  #newWords = false;

  /** @param answeredAt ms */
  constructor(answeredAt: number) {
    this.#answeredAt = answeredAt;
    this.#since = answeredAt;
  }

  /** Whether the agent is speaking, including short breaths. */
  get agentSpeaks(): boolean {
    return this.#stretch?.counted === true;
  }

  /** When the agent started to speak in this turn, and when it was last heard; null: not yet. */
  get firstAt(): number | null {
    return this.#firstAt;
  }

  get lastTo(): number | null {
    return this.#lastTo;
  }

  /** 20 ms from the agent, ending at `now`. @param voice whether it speaks in them */
  heard(voice: boolean, now: number): void {
    const stretch = this.#stretch;
    if (voice) {
      if (!stretch) this.#stretch = { from: now - frameMs, to: now, counted: false };
      else stretch.to = now;
      this.#count(now);
      if (this.#callerSpeaks && this.agentSpeaks) this.#overlapMs += frameMs;
    } else if (stretch && now - stretch.to >= this.#gapMs(stretch.counted)) this.#endStretch();
  }

  /** The agent reports that it starts to speak. An answer to an interruption may follow at once. */
  agentBegins(): void {
    this.#agentBegan = true;
    this.#newWords =
      this.agentSpeaks && (this.#carriedOver || this.#callerSpeaks || this.#interruptedAt !== null);
  }

  #gapMs(speech: boolean): number {
    return speech && !this.#newWords ? breathMs : shortGapMs;
  }

  /** The caller's part begins: it speaks, or presses a key. */
  callerBegins(now: number, speaks: boolean): void {
    this.#callerSpeaks = speaks;
    this.#callerBeganAt = now;
    this.#agentBegan = false;
    if (!this.agentSpeaks) return;
    this.#interruptedAt = now;
    this.#barged = true;
  }

  callerEnds(now: number): void {
    this.#callerSpeaks = false;
    this.#since = now;
    // A key takes a while to send, and may be answered before that is done.
    const answered = this.#agentBegan && (this.#firstAt ?? 0) >= (this.#callerBeganAt ?? now);
    if (!answered) this.#firstAt = null;
    // Speech that continues from before is not an answer.
    this.#carriedOver = this.agentSpeaks && !answered;
  }

  /** The measures since the last call; the next turn starts with the caller's part. */
  take(now: number): Measures {
    this.#closeStretch();
    const answered = this.#firstAt !== null;
    const measures: Measures = {
      response_latency_ms: answered ? Math.max(0, Math.round((this.#firstAt ?? 0) - this.#since)) : null,
      speech_ms: Math.round(this.#speechMs),
      silence_ms: Math.round(answered ? this.#silenceMs : Math.max(0, now - this.#since)),
      barge_in: this.#barged,
      silent_after_ms: this.#silentAfterMs,
      overlap_ms: this.#overlapMs,
      agent_at_ms: this.#sinceAnswer(this.#firstAt),
      caller_at_ms: this.#sinceAnswer(this.#callerBeganAt),
    };
    this.#speechMs = 0;
    this.#silenceMs = 0;
    this.#overlapMs = 0;
    this.#barged = false;
    this.#silentAfterMs = null;
    this.#firstAt = null;
    this.#callerBeganAt = null;
    return measures;
  }

  #sinceAnswer(at: number | null): number | null {
    return at === null ? null : Math.max(0, Math.round(at - this.#answeredAt));
  }

  #count(now: number): void {
    const stretch = this.#stretch;
    if (!stretch || now - stretch.from < onsetMs) return;
    if (!stretch.counted) {
      stretch.counted = true;
      if (this.#firstAt === null) {
        this.#firstAt = stretch.from;
      } else if (this.#lastTo !== null) this.#silenceMs += stretch.from - this.#lastTo;
    }
    this.#lastTo = stretch.to;
  }

  #endStretch(): void {
    this.#closeStretch();
    const stretch = this.#stretch;
    if (stretch?.counted && this.#interruptedAt !== null) {
      this.#silentAfterMs = Math.max(0, Math.round(stretch.to - this.#interruptedAt));
      this.#interruptedAt = null;
    }
    this.#stretch = null;
    this.#carriedOver = false;
    this.#newWords = false;
  }

  /** Adds the speech so far; the rest of the stretch counts separately. */
  #closeStretch(): void {
    const stretch = this.#stretch;
    if (!stretch?.counted) return;
    if (!this.#carriedOver) this.#speechMs += stretch.to - stretch.from;
    stretch.from = stretch.to;
  }
}
