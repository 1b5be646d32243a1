/** Discovery of systems that the test starts. */
import { beforeAll } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import type { DiscoveryQuery } from '../../../edge/trunks/discovery/candidates.ts';
import {
  type DiscoveryLimits,
  type DiscoveryOptions,
  discover,
  discoveryLimits,
} from '../../../edge/trunks/discovery/discover.ts';
import { createAuthority, type TestAuthority } from '../fakes/certificates.ts';
import { host } from './discovery.ts';
import { FakeDns } from './trunks.ts';

export const domain = 'sip.example.com';
/** Tests that wait for a time limit set their own. On a busy machine nothing else reaches it. */
const patient = { attemptMs: 60_000, totalMs: 60_000 };
const loopback = parseNetworks(['127.0.0.0/8']);

interface Other extends Partial<Omit<DiscoveryOptions, 'limits'>> {
  readonly limits?: Partial<DiscoveryLimits>;
}

/** One certificate authority for the file. */
export function discoveryScene() {
  let authority: TestAuthority;
  let certificate: ReturnType<TestAuthority['issue']>;

  beforeAll(() => {
    authority = createAuthority('Discovery test authority');
    certificate = authority.issue({ commonName: domain, names: [`DNS:${domain}`] });
  });

  function run(query: Partial<DiscoveryQuery>, other: Other = {}) {
    const { limits, ...options } = other;
    return discover(
      { host: domain, port: null, transport: null, ...query },
      {
        dns: new FakeDns({ a: { [domain]: [host] } }),
        clock: systemClock,
        allowed: loopback,
        ca: [authority.cert],
        limits: { ...discoveryLimits, ...patient, ...limits },
        ...options,
      },
    );
  }

  return {
    get authority() {
      return authority;
    },
    get certificate() {
      return certificate;
    },
    run,
  };
}
