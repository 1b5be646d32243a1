/** Media with the settings of this edge. */
import { lookForLibrariesIn } from '#shared/native-library.ts';
import { createMedia, type MediaOptions, type RunningMedia } from '../media/media.ts';
import type { EdgeContext } from './context.ts';

/** @throws Error when no media worker can be run */
export function mediaOf(
  { settings, options, log, publicIp, keys }: EdgeContext,
  recordings: MediaOptions['recordings'],
): Promise<RunningMedia> {
  const { rtp, media } = settings;
  lookForLibrariesIn(options.codecLibraries ?? null);
  return createMedia({
    listenIp: rtp.host,
    publicIp,
    portMin: rtp.portMin,
    portMax: rtp.portMax,
    workerBin: media.workerBin,
    ...(media.workers === null ? {} : { workers: media.workers }),
    log,
    ...(recordings && { recordings }),
    keyKnown: (callId, key) => keys.note(callId, key),
  });
}
