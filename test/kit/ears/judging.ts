/** Silero on a clock that the test drives, so that it hears scenes faster than they last. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FakeClock } from '#shared/clock.ts';
import { Silero } from '../../../edge/agent/ears/silero.ts';
import { TwoStageDetectors } from '../../../edge/agent/ears/two-stage-detector.ts';
import { WebrtcDetectors } from '../../../edge/agent/ears/webrtc-detector.ts';
import type { Log } from '../../../edge/call/log.ts';
import { RecordingLog } from '../edge/agent.ts';

export interface Judging {
  readonly detectors: TwoStageDetectors;
  readonly silero: Silero;
  readonly clock: FakeClock;
  /** Resolves when all chunks so far are judged; a frame has passed. */
  readonly settled: () => Promise<void>;
}

/** Resolves when Silero is ready. @throws Error when it cannot be run */
export async function startJudging(log: Log = new RecordingLog()): Promise<Judging> {
  const clock = new FakeClock();
  const silero = new Silero(clock, log);
  const detectors = new TwoStageDetectors(new WebrtcDetectors(), silero);
  // Held open, so that the thread does not end between two scenes.
  silero.open();
  while (silero.state === 'loading') await nextTurn();
  if (silero.state !== 'ready') throw new Error('Silero cannot be run');
  const settled = async () => {
    clock.advance(20);
    while (silero.busy) await nextTurn();
  };
  return { detectors, silero, clock, settled };
}
