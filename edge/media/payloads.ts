/**
 * The worker's names for the codecs of a session. It neither decodes nor transcodes, so a codec is just a name, a
 * clock rate and a payload type.
 *
 * A mediasoup router sends every codec under its own payload type, but a SIP peer must get the number that it
 * offered (RFC 3264 section 6.1). So a session's router table lists exactly the session's payload types, and
 * packets pass through unchanged.
 *
 * Between two bridged sessions the numbers may differ. Then the consumer maps them, for which the worker is
 * patched (worker/patches/08-payload-type.patch).
 */

import type { types } from 'mediasoup';
import type { CodecName } from '#shared/codecs.ts';
import { codecFormats, telephoneEventPayloadTypes } from './sdp/formats.ts';
import type { EventFormat } from './sdp/session.ts';

export interface SessionPayloads {
  readonly codec: CodecName;
  readonly payloadType: number;
  /** RFC 4733 telephone-event, null when it was not negotiated. */
  readonly dtmf: EventFormat | null;
  /** The same at other clock rates, which the peer may send instead. */
  readonly otherDtmf?: readonly EventFormat[];
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
  // RFC 7587 section 7: always 48000/2 in signaling, whatever is encoded.
  Opus: { mimeType: 'audio/opus', clockRate: 48_000, channels: 2 },
  // mediasoup does not support G.729 and rejects the name. iLBC has the same clock rate, and the worker does not
  // inspect its payload, so under that name G.729 passes unharmed.
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

/** Distinguishes sessions that need different router tables. */
export function tableKey(session: SessionPayloads): string {
  return [sendingKey(session), ...(session.otherDtmf ?? []).map(eventKey)].join('+');
}

/** Distinguishes sessions whose peers get packets under different payload types. */
export function sendingKey({ codec, payloadType, dtmf }: SessionPayloads): string {
  return `${codec}:${payloadType}+${dtmf ? eventKey(dtmf) : '-'}`;
}

function eventKey({ payloadType, clockRate }: EventFormat): string {
  return `${payloadType}/${clockRate}`;
}

/** A producer of packets with the session's payload types. `stream`: an SSRC of ours, or learned from the peer. */
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
 * A consumer that sends to the peer of `to` what the peer of `from` sends, under the numbers of `to`. Events pass
 * only when both have them at the same clock, in which their durations count (RFC 4733 section 2.3).
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

/** Payload types of our own first offer for what the peer chose: it sends under these (RFC 3264 section 5.1). */
export function offeredPayloads({ codec, dtmf, otherDtmf = [] }: SessionPayloads): SessionPayloads {
  return {
    codec,
    payloadType: codecFormats[codec].payloadType,
    dtmf: dtmf && offeredEvents(dtmf),
    otherDtmf: otherDtmf.flatMap((events) => offeredEvents(events) ?? []),
  };
}

/** null: we offered none of this clock rate. */
function offeredEvents({ clockRate }: EventFormat): EventFormat | null {
  const payloadType = telephoneEventPayloadTypes.get(clockRate);
  return payloadType === undefined ? null : { payloadType, clockRate };
}

function entries(session: SessionPayloads): (Label & { payloadType: number })[] {
  const main = { ...labels[session.codec], payloadType: session.payloadType };
  const events = session.dtmf ? [session.dtmf, ...(session.otherDtmf ?? [])] : [];
  return [main, ...events.map((format) => ({ mimeType: 'audio/telephone-event', ...format }))];
}
