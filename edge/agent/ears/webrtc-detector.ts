/**
 * WebRTC's voice activity detector (libfvad): statistics of six frequency bands, about 3 µs for a frame. It hears quiet
 * voices, which a threshold of loudness does not. It also takes steady noise and music for voices, so what it hears must
 * stand out from the quietest sound of late, too.
 */
import loadFvad, { type Fvad } from '@echogarden/fvad-wasm';
import { lazyLoad } from '#shared/lazy.ts';
import { keepWasmCode } from '#shared/wasm-code.ts';
import { frameLimits } from './activity.ts';
import { LineNoise, rms } from './line-noise.ts';
import type { Judged, VoiceDetector, VoiceDetectors } from './voice-detector.ts';

const frameMs = 20;
const surest = 3;
/** Samples of the longest frame: 20 ms at 16 kHz. */
const frameSamples = 320;
export interface VoiceGate {
  /** Whether there is a voice in these 20 ms. */
  hears(frame: Int16Array): boolean;
  /** Releases its memory. */
  close(): void;
}

export class WebrtcDetectors implements VoiceDetectors {
  readonly limits = frameLimits;
  readonly tellsNoise = false;
  #fvad: Fvad | null = null;
  /** Where frames are handed to the module. A frame is judged at once, so one place serves all detectors. */
  #frame = 0;

  readonly load = lazyLoad(() =>
    this.#load().catch((error: unknown) => {
      throw new Error('voice activity detection cannot be loaded (is @echogarden/fvad-wasm installed?)', {
        cause: error,
      });
    }),
  );

  create(sampleRate: 8000 | 16000, judged: Judged): VoiceDetector {
    const gate = this.gate(sampleRate, surest);
    const noise = new LineNoise();
    return {
      write: (frame) => {
        const standsOut = noise.frame(rms(frame));
        judged(frameMs, gate.hears(frame) && standsOut ? 1 : 0, 0, false);
      },
      close: () => gate.close(),
    };
  }

  /** The bare detector. @param mode 0 to 3: how sure it must be */
  gate(sampleRate: 8000 | 16000, mode: number): VoiceGate {
    const fvad = this.#fvad;
    if (!fvad) throw new Error('a voice detector was created before its module was loaded');
    let detector = fvad._fvad_new();
    if (detector === 0) throw new Error('there is no memory for another voice detector');
    fvad._fvad_set_mode(detector, mode);
    fvad._fvad_set_sample_rate(detector, sampleRate);
    return {
      hears: (frame) => {
        if (detector === 0) return false;
        fvad.HEAP16.set(frame, this.#frame / 2);
        return fvad._fvad_process(detector, this.#frame, frame.length) === 1;
      },
      close: () => {
        if (detector !== 0) fvad._fvad_free(detector);
        detector = 0;
      },
    };
  }

  async #load(): Promise<void> {
    keepWasmCode();
    const fvad = await loadFvad();
    this.#frame = fvad._malloc(2 * frameSamples);
    this.#fvad = fvad;
  }
}
