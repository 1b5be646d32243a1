/**
 * The audio stream of a browser: ICE finds its address (RFC 8839), DTLS makes its keys (RFC 8122, RFC 8842), RTP and
 * RTCP share a port (RFC 8834 section 4.5). The address and port of its description are placeholders.
 *
 *     attribute             must be
 *     rtcp-mux              there
 *     ice-ufrag, ice-pwd    4 to 256 and 22 to 256 characters of ICE's alphabet
 *     ice-lite              absent: we are ICE-lite, and one side must open the way
 *     fingerprint           SHA-256, SHA-384 or SHA-512
 *     setup                 actpass, active or passive; in an answer one of the last two
 *     mid                   a token, when streams are bundled (RFC 8843)
 */

import { directionOf, ptime, type Unusable } from './audio.ts';
import { type Format, formatsOf } from './formats.ts';
import { attribute, attributes, type MediaSection, type Sdp } from './sdp.ts';
import type { BrowserProfile, Direction, Fingerprint, IceCredentials } from './session.ts';

/** RFC 4145 section 4, without `holdconn`. */
export type Setup = 'actpass' | 'active' | 'passive';

export interface PeerBrowserAudio {
  readonly keying: 'dtls';
  /** Index of the media line in the description, from 0. */
  readonly index: number;
  readonly profile: BrowserProfile;
  readonly formats: readonly Format[];
  readonly direction: Direction;
  readonly ptime: number;
  readonly rtcpMux: true;
  readonly ice: IceCredentials;
  readonly fingerprint: Fingerprint;
  readonly setup: Setup;
  readonly mid: string | null;
}

/** Octets of the hash functions that are accepted; SHA-1 and MD5 can be forged. */
const hashOctets: ReadonlyMap<string, number> = new Map([
  ['sha-256', 32],
  ['sha-384', 48],
  ['sha-512', 64],
]);

const profiles: readonly BrowserProfile[] = ['UDP/TLS/RTP/SAVPF', 'UDP/TLS/RTP/SAVP'];
const setups: readonly Setup[] = ['actpass', 'active', 'passive'];
const ufragForm = /^[A-Za-z0-9+/]{4,256}$/;
const pwdForm = /^[A-Za-z0-9+/]{22,256}$/;
/** RFC 8866 section 9, token; browsers write a digit. */
const midForm = /^[\w!#$%&'*+.^`{|}~-]{1,32}$/;

/** Whether a section is described as browsers do. */
export function isBrowserProfile(profile: string): boolean {
  return profileOf(profile) !== undefined;
}

function profileOf(profile: string): BrowserProfile | undefined {
  return profiles.find((known) => known === profile.toUpperCase());
}

/**
 * Reads the section at `index` as the audio stream of a browser.
 * @param allowed what its `a=setup` may say
 */
export function readBrowserAudio(
  sdp: Sdp,
  index: number,
  allowed: readonly Setup[] = setups,
): PeerBrowserAudio | Unusable {
  const section = sdp.media[index];
  if (section?.media.toLowerCase() !== 'audio') return { unusable: 'No audio stream offered' };
  if (section.port === 0) return { unusable: 'The audio stream is disabled (port 0)' };
  const profile = profileOf(section.profile);
  if (!profile) {
    return { unusable: 'WebRTC required from a browser: offer UDP/TLS/RTP/SAVPF with ICE and DTLS' };
  }
  if (attribute(section, 'rtcp-mux') === undefined) return { unusable: 'a=rtcp-mux required' };
  if (attribute(sdp, 'ice-lite') !== undefined) {
    return { unusable: 'ICE-lite on both sides: one of them must do full ICE' };
  }
  const ice = {
    ufrag: inherited(sdp, section, 'ice-ufrag') ?? '',
    pwd: inherited(sdp, section, 'ice-pwd') ?? '',
  };
  if (!ufragForm.test(ice.ufrag) || !pwdForm.test(ice.pwd)) {
    return { unusable: 'No usable a=ice-ufrag and a=ice-pwd' };
  }
  const fingerprint = fingerprintOf(sdp, section);
  if (!fingerprint) return { unusable: 'No usable a=fingerprint: sha-256, sha-384 or sha-512 required' };
  const stated = inherited(sdp, section, 'setup')?.toLowerCase();
  const setup = allowed.find((candidate) => candidate === stated);
  if (!setup) return { unusable: `a=setup must be ${allowed.join(' or ')}` };
  const mid = attribute(section, 'mid') ?? null;
  if (mid === null ? isBundled(sdp) : !midForm.test(mid)) {
    return { unusable: 'No usable a=mid: bundled streams need one' };
  }
  return {
    keying: 'dtls',
    index,
    profile,
    formats: formatsOf(section),
    direction: directionOf(section) ?? directionOf(sdp) ?? 'sendrecv',
    ptime: ptime(section, sdp),
    rtcpMux: true,
    ice,
    fingerprint,
    setup,
    mid,
  };
}

/** The mids of the streams that share a transport (RFC 8843 section 7). */
export function bundledMids(sdp: Sdp): string[] {
  const groups = attributes(sdp, 'group').map((value) => value.split(/[ \t]+/));
  return groups.find(([semantics]) => semantics?.toUpperCase() === 'BUNDLE')?.slice(1) ?? [];
}

function isBundled(sdp: Sdp): boolean {
  return bundledMids(sdp).length > 0;
}

/** Of the section, else of the session. */
function inherited(sdp: Sdp, section: MediaSection, name: string): string | undefined {
  return attribute(section, name) ?? attribute(sdp, name);
}

/** The first one with a hash function that is accepted: a peer may state several (RFC 8122 section 5). */
function fingerprintOf(sdp: Sdp, section: MediaSection): Fingerprint | null {
  const own = attributes(section, 'fingerprint');
  for (const value of own.length > 0 ? own : attributes(sdp, 'fingerprint')) {
    const [hash = '', digits = '', ...more] = value.split(/[ \t]+/);
    const algorithm = hash.toLowerCase();
    const octets = hashOctets.get(algorithm);
    const form = /^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2})*$/;
    if (octets === undefined || more.length > 0 || digits.length !== 3 * octets - 1) continue;
    if (form.test(digits)) return { algorithm, value: digits.toUpperCase() };
  }
  return null;
}
