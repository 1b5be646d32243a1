/**
 * Offer and answer (RFC 3264) for calls with one SRTP audio stream. Pure: text and settings in, text and the
 * negotiated session out. Our own side decides whom we talk to: a SIP peer with keys in its SDP (SDES), or a browser
 * with ICE and DTLS. Neither is accepted in the place of the other.
 *
 *     they offer:  parseSdp(body) -> negotiateAnswer(offer, local) -> { answer, session }
 *     we offer:    createOffer(local) -> ... -> acceptAnswer(offer, body) -> session
 */
import { type CodecName, codecNames } from '#shared/codecs.ts';
import { CallRefused, type MediaFault } from '../../call/refused.ts';
import { directionOf, isSdesProfile, type PeerAudio, readAudio, type Unusable } from './audio.ts';
import { isBrowserProfile, type PeerBrowserAudio, readBrowserAudio, type Setup } from './browser-audio.ts';
import { answeredCrypto, type Mki } from './crypto.ts';
import { describeAnswer, describeOffer } from './describe.ts';
import {
  codecFormats,
  type Format,
  findCodec,
  findComfortNoise,
  findTelephoneEvent,
  formatsOf,
  otherTelephoneEvents,
} from './formats.ts';
import { attribute, type MediaSection, parseSdp, type Sdp } from './sdp.ts';
import {
  type AgreedAudio,
  type BrowserAudio,
  type EventFormat,
  type Fingerprint,
  type LocalMedia,
  meet,
  type NegotiatedAudio,
  type SdesAudio,
  sendsMedia,
  takesMedia,
} from './session.ts';

type Peer = PeerAudio | PeerBrowserAudio;

/**
 * Answers an offer. The first usable secure audio stream is accepted, every other stream is rejected with port 0.
 * Among the common codecs, the current one stays; else our order decides (or theirs: `local.preference`).
 * @throws CallRefused 488 with a Warning that says what the offer lacks
 */
export function negotiateAnswer(offer: Sdp, local: LocalMedia): { answer: string; session: NegotiatedAudio } {
  const peer = usableAudio(offer, local);
  const { codec, format } = chooseCodec(peer.formats, local);
  const audio = agree(peer, codec, format, {
    direction: meet(peer.direction, local.direction ?? 'sendrecv'),
    held: !takesMedia(peer.direction),
    rtcpMux: peer.rtcpMux && (peer.keying === 'dtls' || local.rtcpMux === true),
  });
  const session =
    peer.keying === 'dtls' ? browserAnswered(peer, audio, local) : sdesAnswered(peer, audio, local);
  return { answer: describeAnswer(offer, peer.index, local, session), session };
}

function sdesAnswered(peer: PeerAudio, audio: AgreedAudio, local: LocalMedia): SdesAudio {
  // A re-INVITE that repeats our key: one key for both directions would encrypt two streams alike.
  if ('cryptoKey' in local && peer.crypto.key === local.cryptoKey)
    throw refusal('The offer has our own SRTP key');
  // RFC 4568 leaves it to each side, and its examples have it on both: peers that send an MKI expect one.
  return sdes(peer, audio, peer.crypto.mki);
}

/** The certificate and the role stay for as long as the DTLS association (RFC 8842 section 4), and so do the formats. */
function browserAnswered(peer: PeerBrowserAudio, audio: AgreedAudio, local: LocalMedia): BrowserAudio {
  const current = local.current?.keying === 'dtls' ? local.current : null;
  const same = current && isSameFingerprint(current.fingerprint, peer.fingerprint) ? current : null;
  const free = same?.dtlsRole ?? 'client';
  const session = browser(peer, audio, peer.setup === 'actpass' ? free : roleOf(peer.setup));
  const problem = same && cannotChange(same, session);
  if (problem) throw refusal(problem);
  return session;
}

/**
 * An offer: all our codecs before the first negotiation, else (`local.current`) the negotiated state again, with
 * the current direction, address, port and key of `local`. The media lines of `local.previous` are kept (RFC 3264
 * section 8); an offer that changes nothing is the previous text, including its version.
 */
export function createOffer(local: LocalMedia): string {
  return describeOffer(local);
}

/**
 * Processes the peer's answer to an offer of ours.
 * @throws CallRefused 488 when it accepts no audio stream of ours or breaks the rules of an answer
 */
export function acceptAnswer(ourOffer: string, answerText: string): NegotiatedAudio {
  const offer = parseSdp(ourOffer);
  const index = offer.media.findIndex((section) => section.media === 'audio' && section.port !== 0);
  const offered = offer.media[index];
  if (offered === undefined) throw new Error('acceptAnswer: our own offer has no audio stream');
  const answer = parseSdp(answerText);
  if (isBrowserProfile(offered.profile)) {
    const peer = usable(readBrowserAudio(answer, index, ['active', 'passive']));
    return browser(peer, accepted(peer, offered, true), roleOf(peer.setup));
  }
  const ours = readAudio(offer, index);
  if ('unusable' in ours) throw new Error(`acceptAnswer: our own offer is unusable: ${ours.unusable}`);
  const peer = usable(readAudio(answer, index, (values) => answeredCrypto(values, ours.crypto)));
  const rtcpMux = peer.rtcpMux && attribute(offered, 'rtcp-mux') !== undefined;
  return sdes(peer, accepted(peer, offered, rtcpMux), ours.crypto.mki);
}

/** What the answer chose from our offer. */
function accepted(peer: Peer, offered: MediaSection, rtcpMux: boolean): AgreedAudio {
  const chosen = firstCodec(peer.formats, codecsOf(formatsOf(offered)));
  if (chosen === undefined) throw refusal('The answer has no codec of the offer', 'no_codec');
  const wanted = directionOf(offered) ?? 'sendrecv';
  const audio = agree(peer, chosen.codec, chosen.format, {
    direction: meet(peer.direction, wanted),
    // An answer that receives nothing is a hold by the peer only if we meant to send.
    held: sendsMedia(wanted) && !takesMedia(peer.direction),
    rtcpMux,
  });
  const others = otherTelephoneEvents(peer.formats, audio.dtmf);
  return others.length === 0 ? audio : { ...audio, otherDtmf: others.map(eventFormat) };
}

function usable<T extends Peer>(peer: T | Unusable): T {
  if ('unusable' in peer) throw refusal(peer.unusable);
  return peer;
}

function refusal(text: string, kind: MediaFault['kind'] = 'unusable'): CallRefused {
  return new CallRefused(488, `SDP refused: ${text}`, text, { kind, text });
}

/** The first usable stream; when there is none, the reason of the most promising one. */
function usableAudio(offer: Sdp, local: LocalMedia): Peer {
  const read = 'cryptoKey' in local ? readAudio : readBrowserAudio;
  const isSecure = 'cryptoKey' in local ? isSdesProfile : isBrowserProfile;
  let reason: string | undefined;
  let reasonIsOfSecureStream = false;
  for (const [index, section] of offer.media.entries()) {
    if (section.media.toLowerCase() !== 'audio') continue;
    const peer = read(offer, index);
    const problem = 'unusable' in peer ? peer.unusable : codecProblem(peer, local.codecs);
    if (problem === null && !('unusable' in peer)) return peer;
    const secure = isSecure(section.profile);
    if (reason === undefined || (secure && !reasonIsOfSecureStream)) reason = problem ?? reason;
    reasonIsOfSecureStream ||= secure;
  }
  throw refusal(reason ?? 'No audio stream offered');
}

function codecProblem(peer: Peer, codecs: readonly CodecName[]): string | null {
  if (firstCodec(peer.formats, codecs) !== undefined) return null;
  return `No common codec: this number accepts ${codecs.join(', ')}`;
}

function chooseCodec(formats: readonly Format[], local: LocalMedia) {
  const current = local.current && findCodec(formats, local.current.codec);
  if (local.current && current) return { codec: local.current.codec, format: current };
  if (local.preference !== 'remote') {
    for (const codec of local.codecs) {
      const format = findCodec(formats, codec);
      if (format) return { codec, format };
    }
  }
  const chosen = firstCodec(formats, local.codecs);
  if (chosen === undefined) throw refusal('No common codec', 'no_codec');
  return chosen;
}

/** The first of the peer's formats that is one of `codecs`. */
function firstCodec(formats: readonly Format[], codecs: readonly CodecName[]) {
  for (const format of formats) {
    const codec = codecs.find((candidate) => findCodec([format], candidate) !== undefined);
    if (codec) return { codec, format };
  }
  return undefined;
}

function codecsOf(formats: readonly Format[]): CodecName[] {
  return codecNames.filter((name) => findCodec(formats, name) !== undefined);
}

function eventFormat({ payloadType, clockRate }: Format): EventFormat {
  return { payloadType, clockRate };
}

function agree(
  peer: Peer,
  codec: CodecName,
  format: Format,
  settled: Pick<NegotiatedAudio, 'direction' | 'held' | 'rtcpMux'>,
): AgreedAudio {
  const events = findTelephoneEvent(peer.formats, format.clockRate);
  const noise = findComfortNoise(peer.formats, format.clockRate);
  return {
    codec,
    payloadType: format.payloadType,
    clockRate: codecFormats[codec].clockRate,
    channels: format.channels,
    ptime: 20,
    remotePtime: peer.ptime,
    fmtp: format.fmtp,
    dtmf: events ? eventFormat(events) : null,
    comfortNoise: noise?.payloadType ?? null,
    ...settled,
  };
}

function sdes(peer: PeerAudio, audio: AgreedAudio, localMki: Mki | null): SdesAudio {
  const { address, rtpPort, crypto, profile } = peer;
  return {
    ...audio,
    keying: 'sdes',
    remote: { address, rtpPort, rtcpPort: audio.rtcpMux ? rtpPort : peer.rtcpPort },
    remoteKey: crypto.key,
    remoteMki: crypto.mki,
    localMki,
    localTag: crypto.tag,
    profile,
  };
}

function browser(
  { ice, fingerprint, mid, profile }: PeerBrowserAudio,
  audio: AgreedAudio,
  dtlsRole: BrowserAudio['dtlsRole'],
): BrowserAudio {
  return { ...audio, keying: 'dtls', ice, fingerprint, dtlsRole, mid, profile };
}

/** RFC 8842 section 4: the active side begins the handshake. */
function roleOf(setup: Setup): BrowserAudio['dtlsRole'] {
  return setup === 'passive' ? 'server' : 'client';
}

function isSameFingerprint(one: Fingerprint, other: Fingerprint): boolean {
  return one.algorithm === other.algorithm && one.value === other.value;
}

/** What a later offer with the same certificate changes and may not; null: nothing. */
function cannotChange(current: BrowserAudio, next: BrowserAudio): string | null {
  if (next.dtlsRole !== current.dtlsRole) return 'The DTLS role cannot change without a new certificate';
  const formats = ({ codec, payloadType, dtmf }: BrowserAudio) =>
    [codec, payloadType, dtmf?.payloadType, dtmf?.clockRate].join();
  if (formats(next) === formats(current)) return null;
  return 'Codec and payload types cannot change without a new certificate';
}
