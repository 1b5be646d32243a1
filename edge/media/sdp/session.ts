/** What offer/answer works from and comes to. */
import type { CodecName } from '#shared/codecs.ts';
import type { Mki } from './crypto.ts';

/** RFC 3264 section 5.1, seen from the side that states it. */
export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

/** Our side of a session. */
export interface LocalMedia {
  /** IP address for `c=` and `o=`: the public one when there is one. */
  readonly address: string;
  readonly rtpPort: number;
  /** Codecs that may be used, in our order of preference. Only those whose library is present. */
  readonly codecs: readonly CodecName[];
  /** Our SRTP master key and salt: 30 octets as bare base64. */
  readonly cryptoKey: string;
  /** Session id of our `o=` line: decimal digits, the same for the whole call. */
  readonly sessionId: string;
  /**
   * The description that we sent last in this call, null before the first. From it come the version of the
   * `o=` line and, in a later offer, the media lines that must be kept.
   */
  readonly previous: string | null;
  /** What the session came to last: later offers and answers keep its codec, offers also its payload types. */
  readonly current?: NegotiatedAudio | null;
  /** What we want to do: anything but `sendrecv` holds the peer. */
  readonly direction?: Direction;
  /** Whether our transport can take RTCP on the RTP port (RFC 5761). Then an offer of it is accepted. */
  readonly rtcpMux?: boolean;
  /** Whether the peer may replace silence by comfort noise packets (RFC 3389). */
  readonly comfortNoise?: boolean;
  /** Whose order of codecs decides when we answer; `local` unless given. */
  readonly preference?: 'local' | 'remote';
}

/** A telephone-event format (RFC 4733): what it is called in the RTP header, and the clock of its durations in Hz. */
export interface EventFormat {
  readonly payloadType: number;
  readonly clockRate: number;
}

export interface NegotiatedAudio {
  readonly codec: CodecName;
  /** The peer's payload type for the codec: what we send. In answers of ours also what we receive. */
  readonly payloadType: number;
  /** RTP clock, Hz. */
  readonly clockRate: number;
  /** As written in SDP: 2 for Opus, although we send mono. */
  readonly channels: number;
  /** Milliseconds of audio in each packet that we send. */
  readonly ptime: 20;
  /** What the peer wants to send per packet, milliseconds; it may do otherwise. */
  readonly remotePtime: number;
  /** The peer's `a=fmtp` of the codec: what it can receive. */
  readonly fmtp: string | null;
  /** RFC 4733 events; null when the peer has none: it then gets no key presses. */
  readonly dtmf: EventFormat | null;
  /** Events at other clock rates that an answer to us names too. We send none, but its maker may. */
  readonly otherDtmf?: readonly EventFormat[];
  /** The peer's comfort noise payload type, whether or not we agreed to it. */
  readonly comfortNoise: number | null;
  /** Where the peer wants media. The address may be a host name, and `0.0.0.0` or `::` in a hold of old style. */
  readonly remote: { readonly address: string; readonly rtpPort: number; readonly rtcpPort: number };
  /** The peer's SRTP master key and salt: 30 octets as bare base64. */
  readonly remoteKey: string;
  /** The master key identifier that stands in the peer's packets, unless it forgets it; null: none. */
  readonly remoteMki: Mki | null;
  /** The one in ours: a peer that has one in its offer finds the same in what we send. */
  readonly localMki: Mki | null;
  /** Tag of the crypto line in use. */
  readonly localTag: string;
  readonly profile: 'RTP/SAVP' | 'RTP/SAVPF';
  /** Ours, as settled. */
  readonly direction: Direction;
  /** Whether the peer holds the call. */
  readonly held: boolean;
  readonly rtcpMux: boolean;
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

/** Whether one who states `direction` takes media. */
export function takesMedia(direction: Direction): boolean {
  return receives.has(direction);
}

/** Whether one who states `direction` sends media. */
export function sendsMedia(direction: Direction): boolean {
  return sends.has(direction);
}
