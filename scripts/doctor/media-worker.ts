/** The media worker: its file, and whether it starts. */
import { createWorker, version } from 'mediasoup';
import { startCommand } from '#shared/own-command.ts';
import type { EdgeSettings } from '../../edge/config.ts';
import { checkWorkerBinary } from '../../edge/media/worker-binary.ts';
import { type Check, type Finding, failed, ok } from './check.ts';
import { reasonOf } from './reason.ts';
import { ofEdge } from './with-settings.ts';

async function worker({ media }: EdgeSettings): Promise<Finding> {
  const { workerBin } = media;
  try {
    await checkWorkerBinary(workerBin, version, false);
  } catch (error) {
    return failed(
      reasonOf(error),
      `run the set-up (${startCommand()}), or correct MEDIASOUP_WORKER or TRUNKLINE_CACHE`,
    );
  }
  try {
    const started = await createWorker({ workerBin, logLevel: 'none' });
    started.close();
  } catch (error) {
    return failed(
      `${workerBin} does not start: ${reasonOf(error)}`,
      `see what is missing: ldd ${workerBin}; the set-up builds it for this machine`,
    );
  }
  return ok(`${workerBin} starts, of mediasoup ${version}`);
}

export const workerChecks: readonly Check[] = [
  {
    name: 'media.worker',
    program: 'edge',
    about: 'The media worker is the one that was built for this version, and starts; it is ended at once.',
    bad: 'It is missing, of another version or not ours, or does not start.',
    run: ofEdge(worker),
  },
];
