/**
 * Offer and answer (RFC 3264) for calls with one SRTP audio stream. Pure: text and settings in, text and the
 * negotiated session out.
 *
 *     they offer:  parseSdp(body) -> negotiateAnswer(offer, local) -> { answer, session }
 *     we offer:    createOffer(local) -> ... -> acceptAnswer(offer, body) -> session
 */
import { type CodecName, codecNames } from '#shared/codecs.ts';
import { CallRefused, type MediaFault } from '../../call/refused.ts';
import { type PeerAudio, readAudio } from './audio.ts';
import { answeredCrypto } from './crypto.ts';
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
import { attribute, parseSdp, type Sdp } from './sdp.ts';
import {
  type EventFormat,
  type LocalMedia,
  meet,
  type NegotiatedAudio,
  sendsMedia,
  takesMedia,
} from './session.ts';

/**
 * Answers an offer. The first usable secure audio stream is accepted, every other stream is rejected with port 0.
 * Among the common codecs, the current one stays; else our order decides (or theirs: `local.preference`).
 * @throws CallRefused 488 with a Warning that says what the offer lacks
 */
export function negotiateAnswer(offer: Sdp, local: LocalMedia): { answer: string; session: NegotiatedAudio } {
  const peer = usableAudio(offer, local.codecs);
  // A re-INVITE that repeats our key: one key for both directions would encrypt two streams alike.
  if (peer.crypto.key === local.cryptoKey) throw refusal('The offer has our own SRTP key');
  const { codec, format } = chooseCodec(peer.formats, local);
  const events = findTelephoneEvent(peer.formats, format.clockRate);
  const noise = findComfortNoise(peer.formats, format.clockRate);
  const rtcpMux = peer.rtcpMux && local.rtcpMux === true;
  const session = settle(peer, codec, format, events, noise, {
    direction: meet(peer.direction, local.direction ?? 'sendrecv'),
    held: !takesMedia(peer.direction),
    rtcpMux,
    // RFC 4568 leaves it to each side, and its examples have it on both: peers that send an MKI expect one.
    localMki: peer.crypto.mki,
  });
  return { answer: describeAnswer(offer, peer.index, local, session), session };
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
  const ours = readAudio(offer, index);
  if ('unusable' in ours) throw new Error(`acceptAnswer: our own offer is unusable: ${ours.unusable}`);
  const peer = readAudio(parseSdp(answerText), index, (values) => answeredCrypto(values, ours.crypto));
  if ('unusable' in peer) throw refusal(peer.unusable);

  const offeredCodecs = codecsOf(formatsOf(offered));
  const chosen = firstCodec(peer.formats, offeredCodecs);
  if (chosen === undefined) throw refusal('The answer has no codec of the offer', 'no_codec');
  const { codec, format } = chosen;
  const events = findTelephoneEvent(peer.formats, format.clockRate);
  const wanted = ours.direction;
  const session = settle(peer, codec, format, events, findComfortNoise(peer.formats, format.clockRate), {
    direction: meet(peer.direction, wanted),
    // An answer that receives nothing is a hold by the peer only if we meant to send.
    held: sendsMedia(wanted) && !takesMedia(peer.direction),
    rtcpMux: peer.rtcpMux && attribute(offered, 'rtcp-mux') !== undefined,
    localMki: ours.crypto.mki,
  });
  const others = otherTelephoneEvents(peer.formats, events);
  return others.length === 0 ? session : { ...session, otherDtmf: others.map(eventFormat) };
}

function refusal(text: string, kind: MediaFault['kind'] = 'unusable'): CallRefused {
  return new CallRefused(488, `SDP refused: ${text}`, text, { kind, text });
}

/** The first usable stream; when there is none, the reason of the most promising one. */
function usableAudio(offer: Sdp, codecs: readonly CodecName[]): PeerAudio {
  let reason: string | undefined;
  let reasonIsOfSecureStream = false;
  for (const [index, section] of offer.media.entries()) {
    if (section.media.toLowerCase() !== 'audio') continue;
    const peer = readAudio(offer, index);
    const problem = 'unusable' in peer ? peer.unusable : codecProblem(peer, codecs);
    if (problem === null && !('unusable' in peer)) return peer;
    const secure = /^RTP\/SAVPF?$/i.test(section.profile);
    if (reason === undefined || (secure && !reasonIsOfSecureStream)) reason = problem ?? reason;
    reasonIsOfSecureStream ||= secure;
  }
  throw refusal(reason ?? 'No audio stream offered');
}

function codecProblem(peer: PeerAudio, codecs: readonly CodecName[]): string | null {
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

function settle(
  peer: PeerAudio,
  codec: CodecName,
  format: Format,
  events: Format | undefined,
  noise: Format | undefined,
  settled: Pick<NegotiatedAudio, 'direction' | 'held' | 'rtcpMux' | 'localMki'>,
): NegotiatedAudio {
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
    remote: {
      address: peer.address,
      rtpPort: peer.rtpPort,
      rtcpPort: settled.rtcpMux ? peer.rtpPort : peer.rtcpPort,
    },
    remoteKey: peer.crypto.key,
    remoteMki: peer.crypto.mki,
    localTag: peer.crypto.tag,
    profile: peer.profile,
    ...settled,
  };
}
