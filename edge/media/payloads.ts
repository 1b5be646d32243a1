/**
 * What the worker calls the codecs of a session. It neither decodes nor transcodes, so a codec is a name, a clock
 * rate and a payload type to it.
 *
 * A mediasoup router sends every codec under a payload type of its own, but a SIP peer must get the number
 * that it offered (RFC 3264 section 6.1). So a session's router table lists exactly the session's payload types,
 * and packets pass through unchanged.
 */

import type { types } from 'mediasoup';
import type { CodecName } from '#shared/codecs.ts';

export interface SessionPayloads {
  readonly codec: CodecName;
  readonly payloadType: number;
  /** RFC 4733 telephone-event, null when it was not negotiated. */
  readonly dtmf: { readonly payloadType: number; readonly clockRate: number } | null;
}

interface Label {
  readonly mimeType: string;
  readonly clockRate: number;
  readonly channels?: number;
}

const labels: Readonly<Record<CodecName, Label>> = {
  PCMU: { mimeType: 'audio/PCMU', clockRate: 8000 },
  PCMA: { mimeType: 'audio/PCMA', clockRate: 8000 },
  'G.722': { mimeType: 'audio/G722', clockRate: 8000 },
  // RFC 7587 section 7: always 48000/2 in signaling, whatever is coded.
  Opus: { mimeType: 'audio/opus', clockRate: 48_000, channels: 2 },
  // mediasoup knows no G.729 and refuses the name. iLBC has the same clock rate, and no code of the worker looks
  // into its payload, so under that name G.729 passes unharmed.
  'G.729': { mimeType: 'audio/iLBC', clockRate: 8000 },
};

/** The router's codecs for this session. */
export function routerCodecs(session: SessionPayloads): types.RouterRtpCodecCapability[] {
  return entries(session).map(({ payloadType, ...codec }) => ({
    kind: 'audio',
    preferredPayloadType: payloadType,
    ...codec,
  }));
}

/** Tells sessions apart that need different router tables. */
export function tableKey(session: SessionPayloads): string {
  const dtmf = session.dtmf ? `${session.dtmf.payloadType}/${session.dtmf.clockRate}` : '-';
  return `${session.codec}:${session.payloadType}+${dtmf}`;
}

/** A producer of packets under the session's payload types. `stream`: an SSRC of ours, or learned from the peer. */
export function producerParameters(
  session: SessionPayloads,
  stream: { ssrc: number } | { mid: string },
): types.RtpParameters {
  const codecs = entries(session);
  if ('ssrc' in stream) return { codecs, encodings: [{ ssrc: stream.ssrc }] };
  return { mid: stream.mid, codecs, encodings: [{}] };
}

/** A consumer of everything in the session, without header extensions and feedback. */
export function consumerCapabilities(session: SessionPayloads): types.RtpCapabilities {
  return {
    codecs: routerCodecs(session).map((codec) => ({
      ...codec,
      preferredPayloadType: codec.preferredPayloadType ?? 0,
    })),
    headerExtensions: [],
  };
}

function entries(session: SessionPayloads): (Label & { payloadType: number })[] {
  const main = { ...labels[session.codec], payloadType: session.payloadType };
  if (!session.dtmf) return [main];
  return [main, { mimeType: 'audio/telephone-event', ...session.dtmf }];
}
