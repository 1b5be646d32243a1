/** Our own descriptions, as offer and as answer. */
import type { CodecName } from '#shared/codecs.ts';
import { bundledMids, type Setup } from './browser-audio.ts';
import { type CryptoLine, formatCrypto } from './crypto.ts';
import { codecFormats, rtpmap, telephoneEventPayloadTypes } from './formats.ts';
import {
  type Attribute,
  attribute,
  connectionTo,
  formatSdp,
  type MediaSection,
  parseSdp,
  type Sdp,
} from './sdp.ts';
import type { BrowserProfile, LocalBrowser, LocalMedia, NegotiatedAudio, SdesProfile } from './session.ts';

/** The answer that accepts the stream at `index` according to `session` and rejects all others. */
export function describeAnswer(
  offer: Sdp,
  index: number,
  local: LocalMedia,
  session: NegotiatedAudio,
): string {
  const media = offer.media.map((section, place) =>
    place === index
      ? agreedSection(local, session, session.direction, answerSetup(session))
      : rejected(section),
  );
  const mid = session.keying === 'dtls' ? session.mid : null;
  const bundle = mid !== null && bundledMids(offer).includes(mid) ? mid : null;
  // RFC 3264 section 6: the answer's t= line equals the offer's.
  return versioned(local, media, offer.times, bundle);
}

/** An offer of everything that we support, or, during a call, of what was negotiated. */
export function describeOffer(local: LocalMedia): string {
  const direction = local.direction ?? 'sendrecv';
  const section = local.current
    ? agreedSection(local, local.current, direction, 'actpass')
    : openSection(local, direction);
  const bundle = attribute(section, 'mid') ?? null;
  if (local.previous === null) return versioned(local, [section], [], bundle);
  const previous = parseSdp(local.previous);
  const index = previous.media.findIndex(({ media, port }) => media === 'audio' && port !== 0);
  const media = previous.media.map((old, place) => (place === index ? section : rejected(old)));
  if (index < 0) media.push(section);
  return versioned(local, media, previous.times, bundle);
}

/** One codec, one key: the negotiated state. @param setup of a browser's session */
function agreedSection(
  local: LocalMedia,
  session: NegotiatedAudio,
  direction: string,
  setup: Setup,
): MediaSection {
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
  return lines.section(local.rtpPort, direction, agreedSecurity(local, session, setup));
}

/** Profile of a section, and its attributes before and after the formats. */
interface Security {
  readonly profile: string;
  readonly before: readonly Attribute[];
  readonly after: readonly Attribute[];
}

function agreedSecurity(local: LocalMedia, session: NegotiatedAudio, setup: Setup): Security {
  if ('cryptoKey' in local && session.keying === 'sdes') {
    const { localTag: tag, localMki: mki, profile, rtcpMux } = session;
    return sdesSecurity(profile, { tag, key: local.cryptoKey, mki }, rtcpMux);
  }
  if (!('cryptoKey' in local) && session.keying === 'dtls') {
    return browserSecurity(local, session.profile, session.mid, setup);
  }
  throw new Error('the session was negotiated with another kind of peer');
}

function sdesSecurity(profile: SdesProfile, crypto: CryptoLine, rtcpMux: boolean): Security {
  return {
    profile,
    before: [{ name: 'crypto', value: formatCrypto(crypto) }],
    after: rtcpMux ? [{ name: 'rtcp-mux', value: null }] : [],
  };
}

/** RFC 8839 section 5.1.2.1, for the only candidate of its kind: type preference 126, local preference 65535. */
const hostPriority = 2 ** 24 * 126 + 2 ** 8 * 65_535 + 255;

function browserSecurity(
  { ice, fingerprint, address, rtpPort }: LocalBrowser,
  profile: BrowserProfile,
  mid: string | null,
  setup: Setup,
): Security {
  return {
    profile,
    before: [
      ...(mid === null ? [] : [{ name: 'mid', value: mid }]),
      { name: 'ice-ufrag', value: ice.ufrag },
      { name: 'ice-pwd', value: ice.pwd },
      { name: 'fingerprint', value: `${fingerprint.algorithm} ${fingerprint.value}` },
      { name: 'setup', value: setup },
    ],
    after: [
      { name: 'rtcp-mux', value: null },
      { name: 'candidate', value: `1 1 udp ${hostPriority} ${address} ${rtpPort} typ host` },
      { name: 'end-of-candidates', value: null },
    ],
  };
}

/** The other side of the peer's role (RFC 8842 section 5.3); a peer that may choose gets the passive one. */
function answerSetup(session: NegotiatedAudio): Setup {
  return session.keying === 'dtls' && session.dtlsRole === 'server' ? 'active' : 'passive';
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
  const security =
    'cryptoKey' in local
      ? sdesSecurity('RTP/SAVP', { tag: '1', key: local.cryptoKey, mki: null }, false)
      : browserSecurity(local, 'UDP/TLS/RTP/SAVPF', '0', 'actpass');
  return lines.section(local.rtpPort, direction, security);
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

  section(port: number, direction: string, { profile, before, after }: Security): MediaSection {
    const attributes: Attribute[] = [
      ...before,
      ...this.#attributes,
      { name: 'ptime', value: '20' },
      { name: direction, value: null },
      ...after,
    ];
    const plain = { media: 'audio', port, portCount: 1, connection: null, others: [] };
    return { ...plain, profile, formats: this.#formats, attributes };
  }
}

/** RFC 3264 section 6: a rejected stream keeps its position, its name, its profile and at least one format; its port is 0. */
function rejected(section: MediaSection): MediaSection {
  const attributes = section.attributes.filter(({ name }) => name === 'mid');
  return { ...section, port: 0, portCount: 1, connection: null, others: [], attributes };
}

/**
 * The text, with an `o=` version one above that of `local.previous` when anything differs from it, or the
 * previous text itself when nothing does (RFC 3264 section 8).
 * @param bundle the section whose transport a browser uses for all its streams; null: no such group was offered
 */
function versioned(
  local: LocalMedia,
  media: readonly MediaSection[],
  times: readonly string[],
  bundle: string | null,
): string {
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
      attributes: [
        ...('cryptoKey' in local ? [] : [{ name: 'ice-lite', value: null }]),
        ...(bundle === null ? [] : [{ name: 'group', value: `BUNDLE ${bundle}` }]),
      ],
      media,
    });
  };
  if (previousVersion === null) return write(1n);
  const unchanged = write(previousVersion);
  return unchanged === local.previous ? unchanged : write(previousVersion + 1n);
}
