/** Input and result of offer/answer. */
import type { CodecName } from '#shared/codecs.ts';
import type { Mki } from './crypto.ts';

/** RFC 3264 section 5.1, from the view of the side that states it. */
export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

/** SDES keys in the description (RFC 4568). */
export type SdesProfile = 'RTP/SAVP' | 'RTP/SAVPF';
/** DTLS keys, as in WebRTC (RFC 5764). */
export type BrowserProfile = 'UDP/TLS/RTP/SAVPF' | 'UDP/TLS/RTP/SAVP';

/** RFC 8839 section 5.4. */
export interface IceCredentials {
  readonly ufrag: string;
  readonly pwd: string;
}

/** Of a DTLS certificate (RFC 8122 section 5). */
export interface Fingerprint {
  /** In lower case, for example `sha-256`. */
  readonly algorithm: string;
  /** Octets in upper-case hexadecimal, with colons. */
  readonly value: string;
}

/** Our side of a session with a SIP peer. */
export interface LocalSdes extends LocalSide {
  /** Our SRTP master key and salt: 30 octets as bare base64. */
  readonly cryptoKey: string;
}

/** Our side of a session with a browser. */
export interface LocalBrowser extends LocalSide {
  readonly ice: IceCredentials;
  readonly fingerprint: Fingerprint;
}

export type LocalMedia = LocalSdes | LocalBrowser;

interface LocalSide {
  /** IP address for `c=` and `o=`: the public one if there is one. */
  readonly address: string;
  readonly rtpPort: number;
  /** Codecs that may be used, in our order of preference. Only those whose library is installed. */
  readonly codecs: readonly CodecName[];
  /** Session id of our `o=` line: decimal digits, constant for the whole call. */
  readonly sessionId: string;
  /**
   * The last description that we sent in this call, null before the first. It provides the version of the `o=`
   * line and, in a later offer, the media lines that must be kept.
   */
  readonly previous: string | null;
  /** The last negotiated session: later offers and answers keep its codec, offers also its payload types. */
  readonly current?: NegotiatedAudio | null;
  /** The direction that we want: anything but `sendrecv` holds the peer. */
  readonly direction?: Direction;
  /** Whether our transport can receive RTCP on the RTP port (RFC 5761). If so, an offer of it is accepted. */
  readonly rtcpMux?: boolean;
  /** Whether the peer may replace silence with comfort noise packets (RFC 3389). */
  readonly comfortNoise?: boolean;
  /** Whose codec order decides when we answer; default `local`. */
  readonly preference?: 'local' | 'remote';
}

/** A telephone-event format (RFC 4733): its payload type in the RTP header, and the clock of its durations in Hz. */
export interface EventFormat {
  readonly payloadType: number;
  readonly clockRate: number;
}

/** Agreed with any peer. */
export interface AgreedAudio {
  readonly codec: CodecName;
  /** The peer's payload type for the codec: what we send. In our answers also what we receive. */
  readonly payloadType: number;
  /** RTP clock, Hz. */
  readonly clockRate: number;
  /** As written in SDP: 2 for Opus, although we send mono. */
  readonly channels: number;
  /** Milliseconds of audio in each packet that we send. */
  readonly ptime: 20;
  /** Packet length that the peer wants to send, milliseconds; it may deviate. */
  readonly remotePtime: number;
  /** The peer's `a=fmtp` for the codec: what it can receive. */
  readonly fmtp: string | null;
  /** RFC 4733 events; null when the peer has none: it then gets no key presses. */
  readonly dtmf: EventFormat | null;
  /** Events at other clock rates that an answer to us also lists. We send none, but the answerer may. */
  readonly otherDtmf?: readonly EventFormat[];
  /** The peer's comfort noise payload type, whether or not it was negotiated. */
  readonly comfortNoise: number | null;
  /** Our negotiated direction. */
  readonly direction: Direction;
  /** Whether the peer holds the call. */
  readonly held: boolean;
  readonly rtcpMux: boolean;
}

/** Agreed with a SIP peer. */
export interface SdesAudio extends AgreedAudio {
  readonly keying: 'sdes';
  /** The peer's media address. It may be a host name, or `0.0.0.0` or `::` in an old-style hold. */
  readonly remote: { readonly address: string; readonly rtpPort: number; readonly rtcpPort: number };
  /** The peer's SRTP master key and salt: 30 octets as bare base64. */
  readonly remoteKey: string;
  /** The master key identifier in the peer's packets, unless it omits it; null: none. */
  readonly remoteMki: Mki | null;
  /** The MKI in our packets: a peer that offers one gets the same one back. */
  readonly localMki: Mki | null;
  /** Tag of the crypto line in use. */
  readonly localTag: string;
  readonly profile: SdesProfile;
}

/** Agreed with a browser. */
export interface BrowserAudio extends AgreedAudio {
  readonly keying: 'dtls';
  readonly profile: BrowserProfile;
  /** The peer's; other ones in a later offer restart ICE (RFC 8839 section 4.4.1.1.1). */
  readonly ice: IceCredentials;
  /** Of the peer's certificate. */
  readonly fingerprint: Fingerprint;
  /** Which side of the DTLS handshake the peer is. */
  readonly dtlsRole: 'client' | 'server';
  /** Name of the media section; null: it has none, and is not bundled. */
  readonly mid: string | null;
}

export type NegotiatedAudio = SdesAudio | BrowserAudio;

/** The media address in the peer's description; null: ICE finds it. */
export function describedAddress(session: NegotiatedAudio): string | null {
  return session.keying === 'sdes' ? session.remote.address : null;
}

const sends: ReadonlySet<string> = new Set(['sendrecv', 'sendonly']);
const receives: ReadonlySet<string> = new Set(['sendrecv', 'recvonly']);

/** Our direction when the peer states `theirs` and we want `wanted` (RFC 3264 section 6.1). */
export function meet(theirs: Direction, wanted: Direction): Direction {
  const weSend = receives.has(theirs) && sends.has(wanted);
  const weReceive = sends.has(theirs) && receives.has(wanted);
  if (weSend) return weReceive ? 'sendrecv' : 'sendonly';
  return weReceive ? 'recvonly' : 'inactive';
}

/** Whether a side with `direction` receives media. */
export function takesMedia(direction: Direction): boolean {
  return receives.has(direction);
}

/** Whether a side with `direction` sends media. */
export function sendsMedia(direction: Direction): boolean {
  return sends.has(direction);
}
