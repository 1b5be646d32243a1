/** The name that peers look up. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { plainAddress } from '#shared/networks.ts';
import type { EdgeSettings } from '../../edge/config.ts';
import { addressesOf } from '../../edge/trunks/resolve.ts';
import { type Check, type Finding, failed, ok, skipped, warning } from './check.ts';
import { advertisedAddress } from './media-address.ts';
import type { Place } from './place.ts';
import { reasonOf } from './reason.ts';
import { ofEdge } from './with-settings.ts';

/** Addresses of this machine. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address }) => plainAddress(address)),
  );
}

async function publicHost({ sip, rtp }: EdgeSettings, { dns }: Place): Promise<Finding> {
  const host = sip.publicHost;
  if (host === null) return skipped('SIP_PUBLIC_HOST is not set');
  if (isIP(host) !== 0) return skipped(`SIP_PUBLIC_HOST is the address ${host}`);
  const advice = `make an A record of ${host} with the address at which peers reach this edge, or correct SIP_PUBLIC_HOST`;
  let found: string[];
  try {
    found = await addressesOf(dns, host);
  } catch (error) {
    return failed(`${host}: ${reasonOf(error)}`, advice);
  }
  if (found.length === 0) return failed(`${host} has no address in DNS`, advice);
  const ours = new Set([...ownAddresses(), plainAddress(advertisedAddress(rtp))]);
  if (found.some((address) => ours.has(plainAddress(address)))) return ok(`${host} is ${found.join(', ')}`);
  return warning(
    `${host} is ${found.join(', ')}, which is neither an address of this machine nor the media address`,
    'correct the record, unless that address is of a proxy or a NAT that forwards to this edge',
  );
}

async function srv({ sip }: EdgeSettings, { dns }: Place): Promise<Finding> {
  const host = sip.publicHost;
  if (host === null || isIP(host) !== 0) return skipped('SIP_PUBLIC_HOST is not a name');
  const name = `_sips._tcp.${host}`;
  const { records } = await dns.srv(name);
  if (records.length === 0) {
    return sip.port === 5061
      ? ok(`no ${name}: peers use port 5061 of ${host}`)
      : ok(`no ${name}: peers must be given port ${sip.port}, as 5061 is what they try`);
  }
  const shown = records.map(({ target, port }) => `${target}:${port}`).join(', ');
  if (records.some(({ port }) => port === sip.port)) return ok(`${name}: ${shown}`);
  return warning(
    `${name}: ${shown}; none with port ${sip.port} (SIP_TLS_PORT)`,
    'correct the port in the record, unless a proxy in front of the edge listens there',
  );
}

export const nameChecks: readonly Check[] = [
  {
    name: 'dns.public_host',
    program: 'edge',
    about: '`SIP_PUBLIC_HOST` has an address in DNS, and it leads to this machine or to its media address.',
    bad: 'It has none (failed); it is another one, as behind a proxy (warning).',
    run: ofEdge(publicHost),
  },
  {
    name: 'dns.srv',
    program: 'edge',
    about: 'SRV records of `SIP_PUBLIC_HOST` (`_sips._tcp`), where there are any, name `SIP_TLS_PORT`.',
    bad: 'No record has that port.',
    run: ofEdge(srv),
  },
];
