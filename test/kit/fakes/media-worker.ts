/** The media worker for tests: the one that set-up built, or another that MEDIASOUP_WORKER names. */
import { workerLocation } from '../../../edge/media/worker/location.ts';

export function testWorkerBin(): string {
  return process.env.MEDIASOUP_WORKER ?? workerLocation(process.env).binary;
}

/** Whether a worker without the mark of our patches is taken: only one that was named on purpose. */
export function acceptTestWorker(): boolean {
  return process.env.MEDIASOUP_WORKER !== undefined;
}
