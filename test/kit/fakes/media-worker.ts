/** The media worker for tests: the one that set-up built, or that of MEDIASOUP_WORKER. */
import { workerLocation } from '../../../edge/media/worker/location.ts';

export function testWorkerBin(): string {
  return process.env.MEDIASOUP_WORKER ?? workerLocation(process.env).binary;
}

/** Whether a worker without the mark of our patches is accepted: only if MEDIASOUP_WORKER names it. */
export function acceptTestWorker(): boolean {
  return process.env.MEDIASOUP_WORKER !== undefined;
}
