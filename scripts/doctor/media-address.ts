/** The address for media that the edge tells its peers. */
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isAnyAddress, plainAddress } from '#shared/networks.ts';
import { judgeAddress, parseNetworks } from '#shared/outgoing-targets.ts';
import type { EdgeSettings } from '../../edge/config.ts';
import { localAddress } from '../../edge/local-address.ts';
import { type Check, type Finding, failed, ok, warning } from './check.ts';
import { ofEdge } from './with-settings.ts';

/** As the edge determines it at its start. */
export function advertisedAddress({ host, publicIp }: EdgeSettings['rtp']): string {
  return publicIp ?? localAddress(host);
}

function mediaAddress({ rtp }: EdgeSettings): Finding {
  const address = plainAddress(advertisedAddress(rtp));
  const set = rtp.publicIp === null ? 'RTP_PUBLIC_IP is not set' : 'as RTP_PUBLIC_IP says';
  if (isIP(address) === 0)
    return failed(
      `RTP_PUBLIC_IP is "${address}", which is no address`,
      'set RTP_PUBLIC_IP to an address: SDP has no names here',
    );
  // By the rule of customers' targets: addresses that nobody reaches from outside.
  const verdict = judgeAddress(address, parseNetworks([]));
  if (!verdict.allowed) {
    return warning(
      `${verdict.reason}, and peers are told to send media there (${set})`,
      'set RTP_PUBLIC_IP to the address at which peers outside reach this machine; correct as it is when all peers are in this network',
    );
  }
  if (isLocal(address)) return ok(`${address}, an address of this machine (${set})`);
  return ok(
    `${address}, which this machine does not have itself (${set}): its NAT must forward the UDP ports ${rtp.portMin} to ${rtp.portMax} without changing them`,
  );
}

function bindAddress({ sip, rtp }: EdgeSettings): Finding {
  const wrong = Object.entries({ SIP_HOST: sip.host, RTP_HOST: rtp.host }).filter(
    ([, host]) => isIP(host) !== 0 && !isAnyAddress(host) && !isLocal(plainAddress(host)),
  );
  if (wrong.length === 0) return ok(`SIP on ${sip.host}, media on ${rtp.host}`);
  const shown = wrong.map(([setting, host]) => `${setting} is ${host}`).join(', ');
  return failed(
    `${shown}, which is no address of this machine`,
    'set it to an address of an interface, or to 0.0.0.0; the address of a NAT belongs in RTP_PUBLIC_IP and SIP_PUBLIC_HOST',
  );
}

function isLocal(address: string): boolean {
  return Object.values(networkInterfaces()).some((all = []) =>
    all.some((one) => plainAddress(one.address) === address),
  );
}

export const addressChecks: readonly Check[] = [
  {
    name: 'nat.media_address',
    program: 'edge',
    about: 'The address for media that the edge puts into SDP.',
    bad: 'It is private, so that peers outside hear nothing and are not heard (warning); it is no address (failed).',
    run: ofEdge(mediaAddress),
  },
  {
    name: 'nat.bind_address',
    program: 'edge',
    about: '`SIP_HOST` and `RTP_HOST` are addresses of this machine.',
    bad: 'One is of another machine or of a NAT.',
    run: ofEdge(bindAddress),
  },
];
