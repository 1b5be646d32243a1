/** The keys of a leg in its descriptions: SDES keys of SIP peers, ICE passwords of browsers. */
import type { LocalKeys } from './peer-transport.ts';
import type { NegotiatedAudio } from './sdp/session.ts';

/** For a description that is only made to see the outcome of an offer. */
export function placeholderKeys(browser: boolean): LocalKeys {
  if (!browser) return { cryptoKey: 'A'.repeat(40) };
  return { ice: { ufrag: '', pwd: '' }, fingerprint: { algorithm: '', value: '' } };
}

/** What must be kept out of everything that is stored: ours, and the peer's when it is known. */
export function secretsOf(ours: LocalKeys, session: NegotiatedAudio | null): string[] {
  const own = 'cryptoKey' in ours ? ours.cryptoKey : ours.ice.pwd;
  if (!session) return [own];
  return [own, session.keying === 'sdes' ? session.remoteKey : session.ice.pwd];
}
