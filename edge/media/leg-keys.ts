/** The keys of a leg in its descriptions: SDES keys of SIP peers, ICE passwords of browsers. */
import type { LocalKeys } from './peer-transport.ts';
import type { NegotiatedAudio } from './sdp/session.ts';

/** For a description that is only made to see the outcome of an offer. */
export function placeholderKeys(browser: boolean): LocalKeys {
  if (!browser) return { cryptoKey: 'A'.repeat(40) };
  return { ice: { ufrag: '', pwd: '' }, fingerprint: { algorithm: '', value: '' } };
}

/** What must be kept out of everything that is stored: ours. */
export function ownSecret(ours: LocalKeys): string {
  return 'cryptoKey' in ours ? ours.cryptoKey : ours.ice.pwd;
}

/** The peer's. */
export function peerSecret(session: NegotiatedAudio): string {
  return session.keying === 'sdes' ? session.remoteKey : session.ice.pwd;
}
