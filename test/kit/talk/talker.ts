/**
 * A caller of the laboratory, in a call over SIP and SRTP: it sends 20 ms at each tick, over a line with losses and
 * jitter, and notes which frames of the agent's voice it hears, and when.
 */

import { decodeMulaw, encodeMulaw } from '../fakes/audio.ts';
import type { HeardPacket } from '../fakes/heard-media.ts';
import { framesOf } from '../fakes/sounds.ts';
import type { Caller } from '../programs/caller.ts';
import type { ListenSession } from './listen-server.ts';
import type { VoiceTracker } from './voice-tracker.ts';

const frame = 160;
const quiet = new Int16Array(frame);
/** RMS from which a frame of the caller is its sound: 30 dB below its speech. */
const audible = 100;

export interface Line {
  /** share of packets that do not arrive */
  readonly loss: number;
  /** packets are up to this late, ms */
  readonly jitterMs: number;
  /** 0 to 1 */
  readonly random: () => number;
}

/** Words, and the sample of the utterance at which they end. */
export interface Cue {
  readonly words: string;
  readonly at: number;
}

/** When an utterance was on the line, by `performance.now()`; null: not yet. */
export interface Said {
  firstAt: number | null;
  lastAt: number | null;
  /** Whether all of it was sent. */
  done: boolean;
}

interface Utterance {
  readonly frames: readonly Int16Array[];
  readonly cues: Cue[];
  readonly said: Said;
  next: number;
}

export interface TalkerOptions {
  readonly line: Line;
  /** Sound around the caller, again and again; absent: none. */
  readonly around?: Int16Array;
  /** The telephone returns our sound: weaker by this, later by that. */
  readonly echo?: { readonly lossDb: number; readonly delayMs: number };
}

export class Talker {
  readonly #caller: Caller;
  readonly #session: ListenSession;
  readonly #options: TalkerOptions;
  readonly #around: readonly Int16Array[];
  readonly voice: VoiceTracker;
  #ticks = 0;
  #utterance: Utterance | null = null;
  /** Frames received and not yet played by the telephone, and the last ones that it has played. */
  readonly #received: Int16Array[] = [];
  #played: Int16Array[] = [];
  #waiting: { readonly done: () => boolean; readonly resolve: () => void }[] = [];

  constructor(caller: Caller, session: ListenSession, voice: VoiceTracker, options: TalkerOptions) {
    this.#caller = caller;
    this.#session = session;
    this.#options = options;
    this.#around = options.around ? framesOf(options.around) : [];
    this.voice = voice;
  }

  /** Takes a packet of the edge. */
  hear({ payloadType, payload }: HeardPacket, at: number): void {
    if (payloadType !== 0) return;
    const samples = decodeMulaw(payload);
    this.#received.push(samples);
    this.voice.hear(samples, at);
  }

  say(samples: Int16Array, cues: readonly Cue[]): Said {
    const padded = new Int16Array(Math.ceil(samples.length / frame) * frame);
    padded.set(samples);
    const said: Said = { firstAt: null, lastAt: null, done: false };
    this.#utterance = { frames: framesOf(padded), cues: [...cues], said, next: 0 };
    return said;
  }

  /** Resolves when it is true; looked at after each tick. */
  when(done: () => boolean): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ done, resolve }));
  }

  /** Lets `ms` pass on the caller's clock. */
  pass(ms: number): Promise<void> {
    const until = this.#ticks + ms / 20;
    return this.when(() => this.#ticks >= until);
  }

  /** 20 ms have passed. */
  tick(): void {
    const now = performance.now();
    const spoken = this.#speak(now);
    const around = this.#around[this.#ticks % Math.max(1, this.#around.length)] ?? quiet;
    const echo = this.#echo();
    this.#send(spoken.map((sample, i) => clipped(sample + (around[i] ?? 0) + (echo[i] ?? 0))));
    this.#ticks++;
    this.voice.pass(now);
    const ready = this.#waiting.filter(({ done }) => done());
    this.#waiting = this.#waiting.filter((one) => !ready.includes(one));
    for (const { resolve } of ready) resolve();
  }

  async hangup(): Promise<void> {
    await this.#caller.hangup();
    await this.#caller.close();
  }

  #speak(now: number): Int16Array {
    const one = this.#utterance;
    const samples = one?.frames[one.next];
    if (!one || !samples) return quiet;
    one.next++;
    if (rms(samples) > audible) {
      one.said.firstAt ??= now;
      one.said.lastAt = now;
    }
    while ((one.cues[0]?.at ?? Number.POSITIVE_INFINITY) <= one.next * frame)
      this.#session.said(one.cues.shift()?.words ?? '');
    if (one.next === one.frames.length) {
      for (const { words } of one.cues) this.#session.said(words);
      one.said.done = true;
      this.#utterance = null;
    }
    return samples;
  }

  #echo(): Int16Array {
    const { echo } = this.#options;
    this.#played.push(this.#received.shift() ?? quiet);
    if (!echo) {
      this.#played = [];
      return quiet;
    }
    // A telephone that has received much at once plays the newest.
    while (this.#received.length > 4) this.#received.shift();
    const frames = Math.round(echo.delayMs / 20);
    if (this.#played.length <= frames) return quiet;
    const back = this.#played.shift() ?? quiet;
    const gain = 10 ** (-echo.lossDb / 20);
    return back.map((sample, i) => gain * (0.8 * sample + 0.2 * (back[i - 1] ?? 0)));
  }

  #send(samples: Int16Array): void {
    const { media } = this.#caller;
    const { loss, jitterMs, random } = this.#options.line;
    const packet = media.protect(media.rtpPacket(encodeMulaw(samples)));
    if (random() < loss) return;
    const late = random() * jitterMs;
    if (late < 1) media.sendRaw(packet);
    else setTimeout(() => media.sendRaw(packet), late);
  }
}

function rms(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length);
}

function clipped(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}
