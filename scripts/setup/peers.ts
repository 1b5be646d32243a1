/**
 * Installs the real peers that tests call: SIPp, Asterisk, baresip, Kamailio, HAProxy, Chromium, and tools to analyze recordings; and
 * PostgreSQL, of which tests start a server of their own.
 */
import { ensureAptPackages } from './apt.ts';
import { ensureAsterisk } from './asterisk.ts';
import { ensureSipp } from './sipp.ts';

/** @throws Trouble */
export async function ensurePeers(): Promise<void> {
  await ensureAptPackages(
    [
      'baresip-core',
      'chromium-headless-shell',
      'curl',
      'dnsmasq-base',
      'haproxy',
      'jq',
      'kamailio',
      'kamailio-tls-modules',
      'openssl',
      'poppler-utils',
      'postgresql',
      'tshark',
    ],
    'test with real peers',
  );
  await ensureSipp();
  await ensureAsterisk();
}
