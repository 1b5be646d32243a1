/**
 * What the worker calls the codecs of a session. It neither decodes nor transcodes, so a codec is a name, a clock
 * rate and a payload type to it.
 *
 * A mediasoup router sends every codec under a payload type of its own, but a SIP peer must get the number
 * that it offered (RFC 3264 section 6.1). So a session's router table lists exactly the session's payload types,
 * and packets pass through unchanged.
 *
 * Between two bridged sessions the numbers may differ. Then the consumer renames them, for which the worker is
 * patched (worker/patches/08-payload-type.patch).
 */

import type { types } from 'mediasoup';
import type { CodecName } from '#shared/codecs.ts';
import { codecFormats, telephoneEventPayloadTypes } from './sdp/formats.ts';

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

/**
 * A consumer for the peer of `to` of what the peer of `from` sends, under the numbers that `to` wants. Events pass
 * only where both have them at the same clock: their durations count in it (RFC 4733 section 2.3).
 */
export function relayCapabilities(from: SessionPayloads, to: SessionPayloads): types.RtpCapabilities {
  const wanted = entries(to);
  const codecs = routerCodecs(from).flatMap((codec) => {
    const same = wanted.find(
      ({ mimeType, clockRate }) => mimeType === codec.mimeType && clockRate === codec.clockRate,
    );
    if (!same) return [];
    const rename = { type: 'x-payload-type', parameter: String(same.payloadType) };
    return [{ ...codec, preferredPayloadType: codec.preferredPayloadType ?? 0, rtcpFeedback: [rename] }];
  });
  return { codecs, headerExtensions: [] };
}

/** The payload types of our own first offer for what the peer chose: under these it sends (RFC 3264 section 5.1). */
export function offeredPayloads(session: SessionPayloads): SessionPayloads {
  const events = session.dtmf;
  const payloadType = events && telephoneEventPayloadTypes.get(events.clockRate);
  return {
    codec: session.codec,
    payloadType: codecFormats[session.codec].payloadType,
    dtmf: events && payloadType ? { payloadType, clockRate: events.clockRate } : null,
  };
}

function entries(session: SessionPayloads): (Label & { payloadType: number })[] {
  const main = { ...labels[session.codec], payloadType: session.payloadType };
  if (!session.dtmf) return [main];
  return [main, { mimeType: 'audio/telephone-event', ...session.dtmf }];
}
