/** The real peers that tests call: SIPp, baresip, Kamailio, Chromium, and the tools that judge what they recorded. */
import { ensureAptPackages } from './apt.ts';
import { ensureSipp } from './sipp.ts';

/** @throws Trouble */
export async function ensurePeers(): Promise<void> {
  await ensureAptPackages(
    [
      'baresip-core',
      'chromium',
      'dnsmasq-base',
      'kamailio',
      'kamailio-tls-modules',
      // Of baresip too; named because the edge offers G.722 only where it is.
      'libspandsp2|libspandsp2t64',
      'openssl',
      'poppler-utils',
      'tshark',
    ],
    'test with real peers',
  );
  await ensureSipp();
}
