/** One secure audio stream as described by the peer: everything that negotiation reads from a media section. */
import { isAnyAddress } from '#shared/networks.ts';
import { type CryptoLine, type CryptoVerdict, chooseCrypto } from './crypto.ts';
import { type Format, formatsOf } from './formats.ts';
import { attribute, attributes, type MediaSection, type Sdp } from './sdp.ts';
import { type Direction, type SdesProfile, sendsMedia } from './session.ts';

export interface PeerAudio {
  readonly keying: 'sdes';
  /** Index of the media line in the description, from 0. */
  readonly index: number;
  readonly profile: SdesProfile;
  readonly formats: readonly Format[];
  readonly address: string;
  readonly rtpPort: number;
  /** RTCP port unless both sides agree to multiplex it. */
  readonly rtcpPort: number;
  readonly crypto: CryptoLine;
  /** As stated, but without receiving media when the address is unspecified. */
  readonly direction: Direction;
  readonly ptime: number;
  readonly rtcpMux: boolean;
}

/** Why a media section is unusable for the call, as text for a Warning header. */
export interface Unusable {
  readonly unusable: string;
}

const directions: readonly Direction[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive'];

/**
 * Reads the section at `index` as a secure audio stream.
 * @param choose selects the key among all `a=crypto` values
 */
export function readAudio(
  sdp: Sdp,
  index: number,
  choose: (values: readonly string[]) => CryptoVerdict = chooseCrypto,
): PeerAudio | Unusable {
  const section = sdp.media[index];
  if (section?.media.toLowerCase() !== 'audio') return { unusable: 'No audio stream offered' };
  if (section.port === 0) return { unusable: 'The audio stream is disabled (port 0)' };
  const profile = section.profile.toUpperCase();
  if (profile !== 'RTP/SAVP' && profile !== 'RTP/SAVPF') return { unusable: wrongProfile(profile) };
  const connection = section.connection ?? sdp.connection;
  if (connection === null) return { unusable: 'No connection address (c=) for the audio stream' };
  // RFC 4568 section 5 allows crypto in media sections only; some peers put it at session level.
  const own = attributes(section, 'crypto');
  const crypto = choose(own.length > 0 ? own : attributes(sdp, 'crypto'));
  if ('unusable' in crypto) return { unusable: `No usable SRTP key: ${crypto.unusable}` };
  const stated = directionOf(section) ?? directionOf(sdp) ?? 'sendrecv';
  return {
    keying: 'sdes',
    index,
    profile,
    formats: formatsOf(section),
    address: connection.address,
    rtpPort: section.port,
    rtcpPort: rtcpPort(section),
    crypto,
    direction: isNowhere(connection.address) ? withoutTaking(stated) : stated,
    ptime: ptime(section, sdp),
    rtcpMux: attribute(section, 'rtcp-mux') !== undefined,
  };
}

/** Whether a section is described with SDES keys. */
export function isSdesProfile(profile: string): boolean {
  return /^RTP\/SAVPF?$/i.test(profile);
}

function wrongProfile(profile: string): string {
  if (profile.startsWith('RTP/AVP')) {
    return 'SRTP required: offer RTP/SAVP with AES_CM_128_HMAC_SHA1_80';
  }
  if (profile.includes('TLS')) {
    return 'DTLS-SRTP not supported: offer RTP/SAVP with SDES and AES_CM_128_HMAC_SHA1_80';
  }
  return `Profile ${profile.slice(0, 40)} not supported: offer RTP/SAVP with AES_CM_128_HMAC_SHA1_80`;
}

/** Of a section or of the session; undefined when it states none. */
export function directionOf(section: MediaSection | Sdp): Direction | undefined {
  for (const { name, value } of section.attributes) {
    const direction = value === null ? directions.find((candidate) => candidate === name) : undefined;
    if (direction) return direction;
  }
  return undefined;
}

/** An RFC 2543 hold: `c=0.0.0.0`, media must not be sent (RFC 3264 section 8.4); and its IPv6 counterpart. */
function isNowhere(address: string): boolean {
  return isAnyAddress(address);
}

function withoutTaking(direction: Direction): Direction {
  return sendsMedia(direction) ? 'sendonly' : 'inactive';
}

/** RFC 3605 (`a=rtcp:port [IN IP4 address]`), else the port after RTP's (RFC 3550 section 11). */
function rtcpPort(section: MediaSection): number {
  const stated = Number.parseInt(attribute(section, 'rtcp') ?? '', 10);
  if (stated > 0 && stated <= 0xffff) return stated;
  return Math.min(section.port + 1, 0xffff);
}

/** Packet length that the peer wants to send, ms. */
export function ptime(section: MediaSection, sdp: Sdp): number {
  const stated = Number.parseInt(attribute(section, 'ptime') ?? attribute(sdp, 'ptime') ?? '', 10);
  return stated >= 1 && stated <= 200 ? stated : 20;
}
