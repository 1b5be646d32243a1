/** Silero on a clock that the test drives, so that it hears scenes faster than they last. */
import { setTimeout as pause } from 'node:timers/promises';
import { FakeClock } from '#shared/clock.ts';
import { Silero } from '../../../edge/agent/ears/silero.ts';
import { type SecondStage, TwoStageDetectors } from '../../../edge/agent/ears/two-stage-detector.ts';
import { WebrtcDetectors } from '../../../edge/agent/ears/webrtc-detector.ts';
import type { Log } from '../../../edge/call/log.ts';
import { RecordingLog } from '../edge/agent.ts';

export interface Judging {
  readonly detectors: TwoStageDetectors;
  readonly silero: SecondStage;
  readonly clock: FakeClock;
  /** Resolves when all chunks so far are judged; a frame has passed. */
  readonly settled: () => Promise<void>;
}

/** Resolves when Silero is ready. @throws Error when it cannot be run */
export async function startJudging(log: Log = new RecordingLog()): Promise<Judging> {
  const clock = new FakeClock();
  const silero = new AwaitedSilero(new Silero(clock, log));
  const detectors = new TwoStageDetectors(new WebrtcDetectors(), silero);
  // Held open, so that the thread does not end between two scenes.
  silero.open();
  while (silero.state === 'loading') await pause(1);
  if (silero.state !== 'ready') throw new Error('Silero cannot be run');
  const settled = async () => {
    clock.advance(20);
    await silero.allJudged();
  };
  return { detectors, silero, clock, settled };
}

/** Resolves when all chunks are judged: a loop that asks would take the CPU from the thread that judges. */
class AwaitedSilero implements SecondStage {
  readonly #silero: Silero;
  #asked = 0;
  #told: () => void = () => undefined;

  constructor(silero: Silero) {
    this.#silero = silero;
  }

  get state() {
    return this.#silero.state;
  }

  open() {
    const stream = this.#silero.open();
    return {
      ...stream,
      write: (chunk: Float32Array, judged: (probability: number | null) => void) => {
        this.#asked++;
        stream.write(chunk, (probability) => {
          this.#asked--;
          judged(probability);
          if (this.#asked === 0) this.#told();
        });
      },
    };
  }

  async allJudged(): Promise<void> {
    if (this.#asked === 0) return;
    await new Promise<void>((resolve) => {
      this.#told = resolve;
    });
  }

  close(): Promise<void> {
    return this.#silero.close();
  }
}
