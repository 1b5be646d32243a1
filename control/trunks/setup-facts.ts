/** What a customer configures on a firewall and in a PBX (contract 3.3). */
import type { Static } from 'typebox';
import type { FirewallIps, OutboundSetup } from '#shared/api/pbx-setup.ts';
import { defaultCodecs } from '#shared/codecs.ts';
import { digestRealm } from '#shared/edge-protocol/numbers.ts';
import { isAnyAddress } from '#shared/networks.ts';
import { accessOf, type PbxFacts, type PbxFile } from '#shared/pbx/facts.ts';
import { pbxFiles } from '#shared/pbx/text.ts';
import type { SipConfigurationRow } from '../db/index.ts';
import { addressesIn } from '../edge-link/index.ts';
import { secretMask } from '../http/index.ts';
import { findOrganization } from '../organizations/index.ts';
import type { TrunkDeps } from './deps.ts';

/** An edge that was connected within this time is listed: a restart must not take it off a customer's firewall. */
const listedMs = 7 * 86_400_000;

/** Addresses come from the settings, else from the edges of the organization's region. */
export async function firewallFacts(
  { config, clock, database: { db } }: TrunkDeps,
  orgId: string,
): Promise<Static<typeof FirewallIps>['data']> {
  const { region } = await findOrganization(db, orgId);
  const since = new Date(clock.now() - listedMs).toISOString();
  const set = config.rtp.publicIp === null ? await addressesIn(db, region, since) : [config.rtp.publicIp];
  const addresses = [...new Set(set)].filter((address) => address !== '' && !isAnyAddress(address));
  return {
    region,
    ip_addresses: addresses.sort(),
    ports: {
      sip: `${config.sip.port} TLS`,
      rtp: `${config.rtp.portMin}-${config.rtp.portMax} UDP`,
    },
  };
}

/** @param configurations of the requested number; none for the general answer */
export function outboundSetup(
  services: TrunkDeps,
  configurations: readonly SipConfigurationRow[],
): Static<typeof OutboundSetup>['data'] {
  const { config } = services;
  const digest = configurations.find((row) => row.auth_mode === 'digest');
  const register = configurations.find((row) => row.auth_mode === 'register');
  const server = sipServer(services);
  return {
    sip_server: server,
    port: config.sip.port,
    transport: 'tls',
    srtp: 'AES_CM_128_HMAC_SHA1_80',
    codecs: [...defaultCodecs],
    instructions:
      `Send calls to ${server}:${config.sip.port} over TLS 1.2 or higher, with SRTP ` +
      '(AES_CM_128_HMAC_SHA1_80, SDP security descriptions) and RFC 2833 DTMF. Trust the root certificate of ' +
      'this service, and dial numbers in E.164 form.',
    ...((digest ?? register) && {
      credentials: {
        username: (digest ?? register)?.username ?? '',
        password: secretMask,
        realm: digest ? digestRealm : null,
      },
    }),
  };
}

/** The configuration of a PBX, filled in. */
export function pbxFilesOf(
  pbx: string,
  { sip_server: server, port, codecs, credentials }: Static<typeof OutboundSetup>['data'],
  known: Pick<PbxFacts, 'number' | 'addresses'>,
): PbxFile[] {
  return [...(pbxFiles(pbx, { server, port, codecs, access: accessOf(credentials), ...known }) ?? [])];
}

/** The host name where peers reach the edge. */
export function sipServer({ config, edges }: Pick<TrunkDeps, 'config' | 'edges'>): string {
  const [edge] = edges.all;
  const candidates = [config.sip.publicHost, edge?.sip.host, config.sip.host];
  return candidates.find((host) => host && !isAnyAddress(host)) ?? '127.0.0.1';
}
