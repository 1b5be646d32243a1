/** Sends the caller's audio to the connection of now: whole pieces, and the rest of a turn with its end. */
import type { Timer } from '#shared/clock.ts';
import type { Timers } from '#shared/timers.ts';
import { AudioRing } from './audio-ring.ts';
import type { TranscriptionLimits } from './live-deps.ts';
import type { Turn } from './live-turn.ts';
import { lullMs } from './lull.ts';
import type { ProviderConnection, TranscriptionProvider } from './provider.ts';

/** Pieces of audio that is sent once more to a server that says too much about each, ms. */
const catchUpMs = 1000;

interface Receiver {
  readonly connection: ProviderConnection;
  readonly provider: TranscriptionProvider;
}

interface SenderParts {
  /** Hz */
  readonly sampleRate: number;
  readonly limits: TranscriptionLimits;
  readonly timers: Timers;
  /** The open turn, and those whose words are awaited, oldest first. */
  readonly turns: readonly Turn[];
  /** All of a turn that has ended was sent. */
  readonly ended: (turn: Turn) => void;
}

export class AudioSender {
  readonly ring: AudioRing;
  readonly #parts: SenderParts;
  #receiver: Receiver | null = null;
  /** Position after what was sent on this connection, and where it began. */
  #sent = 0;
  #base = 0;
  #paused: Timer | null = null;
  /** Up to here, audio is sent in large pieces. */
  #largeTo = 0;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.ring = new AudioRing(parts.sampleRate * parts.limits.maxKeptSeconds);
  }

  samples(ms: number): number {
    return Math.round((this.#parts.sampleRate * ms) / 1000);
  }

  /** Position of a time on this connection. */
  position(throughMs: number): number {
    return this.#base + this.samples(throughMs);
  }

  /** The same, no later than what was sent. */
  heard(throughMs: number): number {
    return Math.min(this.position(throughMs), this.#sent);
  }

  /** All that is kept goes to this connection. */
  use(connection: ProviderConnection, provider: TranscriptionProvider): void {
    this.#receiver = { connection, provider };
    this.#sent = this.ring.oldest;
    this.#base = this.#sent;
    this.pump();
  }

  stop(): void {
    this.#receiver = null;
  }

  /** The next connection gets what is kept now from `position` on, in few pieces. */
  catchUp(position: number): void {
    this.ring.drop(position);
    this.#largeTo = this.ring.end;
  }

  /** Sends what the provider can take. */
  pump(): void {
    const receiver = this.#receiver;
    if (!receiver) return;
    const { connection, provider } = receiver;
    const { turns, limits, ended } = this.#parts;
    const piece = this.samples(provider.pieceMs);
    const mostUnread = 2 * this.samples(limits.maxUnreadMs);
    for (;;) {
      const turn = turns.find(({ endSent }) => !endSent);
      if (!provider.continuous && !turn) return;
      this.#skipTo(provider.continuous || !turn ? this.ring.oldest : Math.max(turn.from, this.ring.oldest));
      const limit = turn?.to ?? this.ring.end;
      const isOver = turn !== undefined && turn.to !== null;
      while (limit - this.#sent >= piece || (isOver && limit > this.#sent)) {
        if (connection.bufferedBytes > mostUnread) {
          this.#pumpLater();
          return;
        }
        const large = Math.min(this.samples(catchUpMs), this.#largeTo - this.#sent);
        const samples = Math.min(Math.max(piece, large), limit - this.#sent);
        connection.audio(this.ring.read(this.#sent, samples));
        this.#sent += samples;
        if (this.#receiver !== receiver) return;
      }
      if (!turn || !isOver) return;
      turn.endSent = true;
      ended(turn);
      if (this.#receiver !== receiver) return;
    }
  }

  /** No audio comes while words are awaited: a provider that hears all of it gets silence. */
  silence(): void {
    if (!this.#receiver?.provider.continuous) return;
    this.ring.append(new Int16Array(this.samples(lullMs)));
    this.pump();
  }

  /** Between turns only a little is kept: a provider that hears all of it has settled what is older. */
  forgetSilence(hearsAll: boolean): void {
    const { idleKeptMs, leadMs, lateMs } = this.#parts.limits;
    const kept = hearsAll ? idleKeptMs : leadMs + lateMs;
    this.ring.drop(this.ring.end - this.samples(kept));
  }

  /** The provider does not read: it gets the rest later. */
  #pumpLater(): void {
    this.#paused ??= this.#parts.timers.after(this.#parts.limits.pauseMs, () => {
      this.#paused = null;
      this.pump();
    });
  }

  /** What is not sent shifts the provider's times. */
  #skipTo(position: number): void {
    if (position <= this.#sent) return;
    this.#base += position - this.#sent;
    this.#sent = position;
  }
}
