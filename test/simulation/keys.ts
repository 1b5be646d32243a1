/** Callers who press keys, and the speech of their pathway: no audio, but its duration. */
import type { SpeechOptions, TextToSpeech } from '#shared/models/speech.ts';
import type { AudioEndpoint, MediaLeg } from '../../edge/call/ports/media.ts';
import type { Random } from './random.ts';
import type { MachineClock } from './time.ts';

const frameMs = 20;
/** Frames processed at once: fifty steps a second for each call would be most of the world's work. */
const framesAtOnce = 10;
const digits = [...'123', ...'123', ...'1234567890*#'];

/** A leg with its attached endpoint. */
export interface KeypadLeg extends MediaLeg {
  readonly options: { readonly callId: string };
  readonly endpoint: AudioEndpoint | null;
}

/** The keys of all callers, and the frames of endpoints with keys. */
export class Keypads {
  /** By call id, in order: keys that the peer pressed while an agent accepted keys. */
  readonly pressed = new Map<string, string>();
  /** By call id: keys that we pressed. */
  readonly played = new Map<string, string>();
  readonly #random: Random;
  readonly #clock: MachineClock;

  constructor(random: Random, clock: MachineClock) {
    this.#random = random;
    this.#clock = clock;
  }

  attached(leg: KeypadLeg): void {
    const { endpoint } = leg;
    if (!endpoint?.dtmf) return;
    this.#listen(leg, endpoint);
    this.#press(leg, endpoint);
  }

  sent(callId: string, keys: string): void {
    // Actions of a crashed process have no effect.
    if (this.#clock.isDead) return;
    this.played.set(callId, (this.played.get(callId) ?? '') + keys);
  }

  #listen(leg: KeypadLeg, endpoint: AudioEndpoint): void {
    const frame = new Int16Array((endpoint.sampleRate * frameMs) / 1000);
    const take = () => {
      if (leg.endpoint !== endpoint) return;
      for (let count = 0; count < framesAtOnce && leg.endpoint === endpoint; count++) endpoint.read(frame);
      this.#clock.after(frameMs * framesAtOnce, take);
    };
    this.#clock.after(frameMs, take);
  }

  /** One person: sometimes one key, sometimes several, sometimes nothing for a while. */
  #press(leg: KeypadLeg, endpoint: AudioEndpoint): void {
    const press = () => {
      if (leg.endpoint !== endpoint) return;
      const { callId } = leg.options;
      const digit = this.#random.pick(digits);
      this.pressed.set(callId, (this.pressed.get(callId) ?? '') + digit);
      endpoint.dtmf?.({ digit, durationMs: 100 });
      this.#clock.after(this.#random.pick([120, 300, 1500, 4000, 15_000]), press);
    };
    this.#clock.after(this.#random.between(50, 5000), press);
  }
}

/** Speech of one frame per character, delayed, and sometimes missing. */
export class SimVoice implements TextToSpeech {
  readonly #random: Random;
  readonly #clock: MachineClock;

  constructor(random: Random, clock: MachineClock) {
    this.#random = random;
    this.#clock = clock;
  }

  async synthesize(text: string, { sampleRate }: SpeechOptions): Promise<Int16Array> {
    await new Promise<void>((resolve) => this.#clock.after(this.#random.between(1, 400), resolve));
    if (this.#random.chance(0.02)) throw new Error('the voice broke');
    return new Int16Array(text.length * (sampleRate / (1000 / frameMs)));
  }

  async close(): Promise<void> {}
}
