/**
 * The place of a supervisor at a call: between the exchange of the call's leg and the endpoint of that leg, whichever that
 * is. The near side is the leg's peer, the far side the endpoint: an agent, or the other leg of a bridge.
 *
 *     near ──write──> nearSaid, + voice ──> far              supervisor ──write──> voice, to those whom its mode reaches
 *     near <── + voice, farSaid <──read──── far              supervisor <──read─── nearSaid + farSaid
 *
 * One clock paces both legs, as with crossing.ts. It works at the rate of the call's endpoint, and takes a new seat at the
 * supervisor's leg when that changes.
 */
import type { SupervisionMode } from '#shared/supervision.ts';
import {
  type AudioEndpoint,
  type MediaLeg,
  type SupervisionOptions,
  silence,
} from '../../call/ports/media.ts';
import { FrameQueue } from '../crossing.ts';
import { MixLevel } from '../room/mixer.ts';

/** The tone at which a supervisor comes: Hz one after the other, frames of each, amplitude. */
const tonesHz = [660, 660] as const;
const toneFrames = 8;
const toneAmplitude = 2500;

/** What is on the way to one side of the call. */
class Way {
  readonly voice: FrameQueue;
  readonly #level = new MixLevel();
  readonly #sum: Int32Array;
  readonly #frame: Int16Array;
  readonly #tone: Int16Array;
  #toneAt = 0;

  constructor(samples: number, tone: Int16Array) {
    this.voice = new FrameQueue(samples);
    this.#sum = new Int32Array(samples);
    this.#frame = new Int16Array(samples);
    this.#tone = tone;
  }

  /** Adds the supervisor's voice and the tone to `frame`. @param said null: the other side is not heard @returns whether it sounds */
  mix(said: Int16Array | null, frame: Int16Array): boolean {
    const voiced = this.voice.shift(this.#frame);
    const at = this.#toneAt;
    const toned = at < this.#tone.length;
    if (!voiced && !toned) {
      if (said) frame.set(said);
      else frame.fill(0);
      return said !== null;
    }
    const sum = this.#sum;
    for (let i = 0; i < sum.length; i++)
      sum[i] = (said?.[i] ?? 0) + (voiced ? (this.#frame[i] ?? 0) : 0) + (this.#tone[at + i] ?? 0);
    this.#toneAt = Math.min(at + sum.length, this.#tone.length);
    this.#level.mix(sum, null, frame);
    return true;
  }
}

/** All that depends on the rate. */
class Frames {
  readonly sampleRate: AudioEndpoint['sampleRate'];
  readonly toNear: Way;
  readonly toFar: Way;
  readonly nearSaid: FrameQueue;
  readonly farSaid: FrameQueue;
  readonly near: Int16Array;
  readonly far: Int16Array;
  readonly sum: Int32Array;
  readonly level = new MixLevel();

  constructor(sampleRate: AudioEndpoint['sampleRate'], hasTone: boolean) {
    const samples = sampleRate / 50;
    const tone = hasTone ? toneOf(sampleRate) : new Int16Array(0);
    this.sampleRate = sampleRate;
    [this.toNear, this.toFar] = [new Way(samples, tone), new Way(samples, tone)];
    [this.nearSaid, this.farSaid] = [new FrameQueue(samples), new FrameQueue(samples)];
    [this.near, this.far] = [new Int16Array(samples), new Int16Array(samples)];
    this.sum = new Int32Array(samples);
  }
}

export class SupervisorDesk {
  readonly #supervisor: Pick<MediaLeg, 'attach'>;
  readonly #agent: SupervisionOptions['agent'];
  #tone: boolean;
  #mode: SupervisionMode = 'listen';
  #frames: Frames | null = null;

  /** @param supervisor the leg that hears and speaks */
  constructor(supervisor: Pick<MediaLeg, 'attach'>, { agent, tone }: SupervisionOptions) {
    this.#supervisor = supervisor;
    this.#agent = agent;
    this.#tone = tone;
  }

  /** What was said in the former mode to somebody who is not to hear it is dropped. */
  set mode(mode: SupervisionMode) {
    this.#mode = mode;
    const { toNear, toFar } = this.#frames ?? {};
    if (!this.#speaksTo('near')) toNear?.voice.clear();
    if (!this.#speaksTo('far')) toFar?.voice.clear();
  }

  /** An endpoint in the place of `endpoint`, through which the supervisor hears the call; null: nobody is there. */
  tap(endpoint: AudioEndpoint | null): AudioEndpoint {
    const far = endpoint ?? silence;
    const frames = this.#tune(far.sampleRate);
    return {
      sampleRate: far.sampleRate,
      read: (frame) => {
        const speaks = far.read(frame);
        if (!speaks) frame.fill(0);
        frames.far.set(frame);
        frames.farSaid.push(frames.far);
        return frames.toNear.mix(speaks && this.#hears('near') ? frames.far : null, frame);
      },
      write: (frame) => {
        frames.nearSaid.push(frame);
        frames.toFar.mix(this.#hears('far') ? frame : null, frames.near);
        far.write?.(frames.near);
      },
      dtmf: (event) => {
        if (this.#mode !== 'take_over') far.dtmf?.(event);
      },
    };
  }

  /** The supervisor hears and says nothing any more. */
  close(): void {
    this.#frames = null;
    this.#supervisor.attach(null);
  }

  /** Whether a side hears the other one: after a takeover nobody hears the agent but the supervisor. */
  #hears(side: 'near' | 'far'): boolean {
    return this.#mode !== 'take_over' || side === this.#agent;
  }

  #speaksTo(side: 'near' | 'far'): boolean {
    if (this.#mode === 'listen') return false;
    return this.#mode !== 'whisper' || side === this.#agent;
  }

  #tune(sampleRate: AudioEndpoint['sampleRate']): Frames {
    if (this.#frames?.sampleRate === sampleRate) return this.#frames;
    const frames = new Frames(sampleRate, this.#tone);
    // It has been heard, or was cut off by a change of the call: once is enough.
    this.#tone = false;
    this.#frames = frames;
    this.#supervisor.attach(this.#seat(frames));
    return frames;
  }

  #seat(frames: Frames): AudioEndpoint {
    const { nearSaid, farSaid, near, far, sum, level } = frames;
    const [callers, agents] = this.#agent === 'far' ? [near, far] : [far, near];
    const take = () => {
      const isNear = nearSaid.shift(near);
      const isFar = farSaid.shift(far);
      if (!isNear) near.fill(0);
      if (!isFar) far.fill(0);
      return isNear || isFar;
    };
    return {
      sampleRate: frames.sampleRate,
      read: (frame) => {
        if (!take()) return false;
        for (let i = 0; i < sum.length; i++) sum[i] = (near[i] ?? 0) + (far[i] ?? 0);
        level.mix(sum, null, frame);
        return true;
      },
      readStereo: (frame) => {
        if (!take()) return false;
        for (let i = 0; i < near.length; i++) {
          frame[2 * i] = callers[i] ?? 0;
          frame[2 * i + 1] = agents[i] ?? 0;
        }
        return true;
      },
      write: (frame) => {
        if (this.#speaksTo('near')) frames.toNear.voice.push(frame);
        if (this.#speaksTo('far')) frames.toFar.voice.push(frame);
      },
    };
  }
}

function toneOf(sampleRate: number): Int16Array {
  const samples = (toneFrames * sampleRate) / 50;
  return Int16Array.from({ length: tonesHz.length * samples }, (_, n) => {
    const hz = tonesHz[Math.floor(n / samples)] ?? 0;
    return Math.round(toneAmplitude * Math.sin((2 * Math.PI * hz * n) / sampleRate));
  });
}
