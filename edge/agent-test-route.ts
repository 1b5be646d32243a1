/** The way of a test run's call: to this edge, or with what the run adds to a call over a trunk. */

import type { CodecName } from '#shared/codecs.ts';
import type { HeaderMapping } from '#shared/edge-protocol/numbers.ts';
import type { RecordingChoice } from '#shared/edge-protocol/recordings.ts';
import type { DialTarget } from './call/ports/dialing.ts';
import { type Media, withLegs } from './call/ports/media.ts';
import type { Hunt } from './call/ports/routes.ts';

/** A single address, which is never to blame. @param codec the only one that is offered; absent: the usual ones */
export function singleHop(target: DialTarget, codec: CodecName | undefined): Hunt {
  const { host, port } = target;
  const endpoint = { host, port, priority: 0 };
  const codecs = codec ? [codec] : [];
  const route = { trunkId: null, credentials: null, headers: [], codecs, transcode: false };
  let given = false;
  return {
    next: async () => {
      if (given) return null;
      given = true;
      return { route, endpoint, target };
    },
    ended: () => ({ movesOn: false }),
    attempts: [],
  };
}

/** A header of an INVITE, as it is. */
export function fixedHeader(key: string, value: string): HeaderMapping {
  return { type: 'custom', key, value, passthrough: true };
}

/** Media whose legs offer one codec alone, whatever the trunk says. */
export function offeringOnly(media: Media, codec: CodecName): Media {
  return withLegs(media, (options) => media.createLeg({ ...options, codecs: [codec] }));
}

/** The simulated caller is nobody who has to be told. */
export const recordedTest: RecordingChoice = {
  mode: 'audio',
  announcement: 'none',
  announcement_text: null,
  pause_key: null,
};

/** REFER is not followed on the call of an agent test. */
export const notFollowed = () =>
  ({ allowed: false, reason: 'A call of an agent test is not transferred.' }) as const;
