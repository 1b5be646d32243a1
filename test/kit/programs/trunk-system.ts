/** A whole Trunkline that may call trunks on this machine, and API helpers for tests. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Static } from 'typebox';
import { Attached, TrunkStatus } from '#shared/api/sip.ts';
import { issue, type TestKeyPair } from '../fakes/certificates.ts';
import { eventually } from './eventually.ts';
import { type SystemOptions, TestSystem } from './harness.ts';

/** Of the outbound configurations of a number. */
export type TrunkHealth = Static<typeof TrunkStatus>['data'];

/** Starts a system that may call this machine. */
export function startTrunkSystem(
  extra: Record<string, string> = {},
  options: SystemOptions = {},
): Promise<TestSystem> {
  return TestSystem.start({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8', ...extra }, options);
}

/** The system's own CA, which its edge trusts. */
export async function trunkAuthority(system: TestSystem): Promise<TestKeyPair> {
  const pem = (name: string) => readFile(join(system.folder, 'tls', name), 'utf8');
  return { cert: await pem('ca.crt'), key: await pem('ca.key') };
}

/** A certificate for 127.0.0.1 from the system's own CA. */
export async function trunkPair(system: TestSystem): Promise<TestKeyPair> {
  return issue(await trunkAuthority(system), {});
}

/** A pathway that speaks one word and ends the call. @returns its id */
export function byePathway({ api }: TestSystem): Promise<string> {
  const data = { name: 'End', text: 'Bye.', isStart: true };
  return api.pathway('short', [{ id: 'end', type: 'End Call', data }], []);
}

/**
 * Attaches `number` in both directions, with calls to a port of this machine.
 * @param transfer_mode what its peers may request by REFER (docs/transfers.md)
 */
export function attachTrunk(
  system: TestSystem,
  number: string,
  port: number,
  transfer_mode = 'sip_only',
): Promise<void> {
  return attachDirections(system, number, [
    { type: 'inbound', options: { allowed_ips: ['127.0.0.1'], transfer_mode } },
    { type: 'outbound', sip_endpoint: `127.0.0.1:${port}`, options: { transfer_mode } },
  ]);
}

/** @param directions objects of contract 2.3 */
export async function attachDirections(
  { api }: TestSystem,
  number: string,
  directions: readonly Record<string, unknown>[],
): Promise<void> {
  const { data } = await api.read(Attached, 'POST', '/v1/sip/attach', {
    phone_number: number,
    directions,
  });
  if (!data.configured.includes(number))
    throw new Error(`${number} was not attached: ${JSON.stringify(data)}`);
  await api.applied(number);
}

/** @param failover fields of `failover_config` (contract 3.5) */
export async function setFailover(
  { api }: TestSystem,
  number: string,
  failover: Record<string, unknown>,
): Promise<void> {
  const body = { phone_number: number, direction: 'outbound', failover_config: failover };
  await api.ok('PATCH', '/v1/sip/config', body);
  await api.applied(number);
}

/** Resolves when the trunk's health matches. */
export function health(
  { api }: TestSystem,
  number: string,
  wished: (status: TrunkHealth) => boolean,
): Promise<TrunkHealth> {
  return eventually(`the wished health of ${number}`, async () => {
    const path = `/v1/sip/status?phone_number=${encodeURIComponent(number)}`;
    const { data } = await api.read(TrunkStatus, 'GET', path);
    return wished(data) ? data : null;
  });
}
