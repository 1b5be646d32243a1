/** Our own descriptions, as offer and as answer. */
import type { CodecName } from '#shared/codecs.ts';
import { type CryptoLine, formatCrypto } from './crypto.ts';
import { codecFormats, rtpmap, telephoneEventPayloadTypes } from './formats.ts';
import { type Attribute, connectionTo, formatSdp, type MediaSection, parseSdp, type Sdp } from './sdp.ts';
import type { LocalMedia, NegotiatedAudio } from './session.ts';

/** The answer that accepts the stream at `index` according to `session` and rejects all others. */
export function describeAnswer(
  offer: Sdp,
  index: number,
  local: LocalMedia,
  session: NegotiatedAudio,
): string {
  const media = offer.media.map((section, place) =>
    place === index ? agreedSection(local, session, session.direction) : rejected(section),
  );
  // RFC 3264 section 6: the answer's t= line equals the offer's.
  return versioned(local, media, offer.times);
}

/** An offer of everything that we support, or, during a call, of what was negotiated. */
export function describeOffer(local: LocalMedia): string {
  const direction = local.direction ?? 'sendrecv';
  const section = local.current
    ? agreedSection(local, local.current, direction)
    : openSection(local, direction);
  if (local.previous === null) return versioned(local, [section], []);
  const previous = parseSdp(local.previous);
  const index = previous.media.findIndex(({ media, port }) => media === 'audio' && port !== 0);
  const media = previous.media.map((old, place) => (place === index ? section : rejected(old)));
  if (index < 0) media.push(section);
  return versioned(local, media, previous.times);
}

/** One codec, one crypto line: the negotiated state. */
function agreedSection(local: LocalMedia, session: NegotiatedAudio, direction: string): MediaSection {
  const { codec, payloadType, dtmf, comfortNoise } = session;
  const { encoding, clockRate } = codecFormats[codec];
  const lines = new Lines();
  lines.add(
    payloadType,
    rtpmap(payloadType, encoding, clockRate, session.channels),
    codecFormats[codec].fmtp,
  );
  if (dtmf) lines.addTelephoneEvent(dtmf.payloadType, dtmf.clockRate);
  if (local.comfortNoise && comfortNoise !== null) {
    lines.add(comfortNoise, rtpmap(comfortNoise, 'CN', clockRate, 1), null);
  }
  const crypto = { tag: session.localTag, key: local.cryptoKey, mki: session.localMki };
  return lines.section(local, session.profile, crypto, direction, session.rtcpMux);
}

/**
 * Every codec of ours, and a telephone-event for each of their clock rates (RFC 4733 section 2.1), plus 8000 Hz
 * in any case: many peers have no other, also beside Opus.
 */
function openSection(local: LocalMedia, direction: string): MediaSection {
  const lines = new Lines();
  for (const codec of local.codecs) {
    const { payloadType, encoding, clockRate, channels, fmtp } = codecFormats[codec];
    lines.add(payloadType, rtpmap(payloadType, encoding, clockRate, channels), fmtp);
  }
  for (const clockRate of clockRates(local.codecs).add(8000)) {
    const payloadType = telephoneEventPayloadTypes.get(clockRate);
    if (payloadType !== undefined) lines.addTelephoneEvent(payloadType, clockRate);
  }
  if (local.comfortNoise && clockRates(local.codecs).has(8000)) lines.add(13, 'CN/8000', null);
  const crypto = { tag: '1', key: local.cryptoKey, mki: null };
  return lines.section(local, 'RTP/SAVP', crypto, direction, false);
}

function clockRates(codecs: readonly CodecName[]): Set<number> {
  return new Set(codecs.map((codec) => codecFormats[codec].clockRate));
}

/** Collects the formats of a media section. */
class Lines {
  readonly #formats: string[] = [];
  readonly #attributes: Attribute[] = [];

  add(payloadType: number, map: string, fmtp: string | null): void {
    this.#formats.push(String(payloadType));
    this.#attributes.push({ name: 'rtpmap', value: map });
    if (fmtp !== null) this.#attributes.push({ name: 'fmtp', value: `${payloadType} ${fmtp}` });
  }

  addTelephoneEvent(payloadType: number, clockRate: number): void {
    this.add(payloadType, rtpmap(payloadType, 'telephone-event', clockRate, 1), '0-15');
  }

  section(
    local: LocalMedia,
    profile: string,
    crypto: CryptoLine,
    direction: string,
    rtcpMux: boolean,
  ): MediaSection {
    const attributes: Attribute[] = [
      { name: 'crypto', value: formatCrypto(crypto) },
      ...this.#attributes,
      { name: 'ptime', value: '20' },
      { name: direction, value: null },
    ];
    if (rtcpMux) attributes.push({ name: 'rtcp-mux', value: null });
    const plain = { media: 'audio', port: local.rtpPort, portCount: 1, connection: null, others: [] };
    return { ...plain, profile, formats: this.#formats, attributes };
  }
}

/** RFC 3264 section 6: a rejected stream keeps its position, its profile and at least one format; its port is 0. */
function rejected(section: MediaSection): MediaSection {
  return { ...section, port: 0, portCount: 1, connection: null, others: [], attributes: [] };
}

/**
 * The text, with an `o=` version one above that of `local.previous` when anything differs from it, or the
 * previous text itself when nothing does (RFC 3264 section 8).
 */
function versioned(local: LocalMedia, media: readonly MediaSection[], times: readonly string[]): string {
  const previousVersion =
    local.previous === null ? null : BigInt(parseSdp(local.previous).origin?.version ?? '0');
  const write = (version: bigint) => {
    const address = connectionTo(local.address);
    return formatSdp({
      origin: { username: 'trunkline', sessionId: local.sessionId, version: String(version), address },
      sessionName: 'trunkline',
      connection: address,
      times: times.length > 0 ? times : ['0 0'],
      others: [],
      attributes: [],
      media,
    });
  };
  if (previousVersion === null) return write(1n);
  const unchanged = write(previousVersion);
  return unchanged === local.previous ? unchanged : write(previousVersion + 1n);
}
