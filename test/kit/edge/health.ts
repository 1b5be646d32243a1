/** Probes of endpoints that the test answers. */
import { beforeEach } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import type { EndpointCertificates } from '../../../edge/trunks/endpoint-certificates.ts';
import { Failover, type Move } from '../../../edge/trunks/failover.ts';
import { failoverMemory } from '../../../edge/trunks/failover-store.ts';
import { HealthProbes, healthSettings, type ProbeOutcome } from '../../../edge/trunks/health.ts';
import type { Resolution, Target } from '../../../edge/trunks/resolve.ts';
import { route, settle, target } from './trunks.ts';

interface Asked {
  readonly address: string;
  readonly at: number;
  answer(outcome: Partial<ProbeOutcome>): Promise<void>;
}

export const ok = { sipCode: 200, responseTimeMs: 41.6 };

/** Fresh probes and failover for each test. */
export function healthScene() {
  let clock: FakeClock;
  let failover: Failover;
  let asked: Asked[];
  let reports: HealthProbe[];
  let addresses: Record<string, readonly string[]>;
  let moved: (move: Move) => void;
  let start: number;
  let prober: { up: boolean; probe: typeof probe };

  beforeEach(() => {
    clock = new FakeClock();
    start = clock.now();
    asked = [];
    reports = [];
    moved = () => {};
    addresses = {};
    prober = { up: true, probe };
    failover = new Failover({
      clock,
      store: failoverMemory(),
      moved: (move) => moved(move),
      failbackAfter: 3,
      failoverAfter: 1,
      forgetAfterMs: 600_000,
    });
  });

  function probes(
    settings: Partial<typeof healthSettings> = {},
    random = 0.5,
    certificates?: EndpointCertificates,
  ) {
    const health = new HealthProbes({
      clock,
      random: () => random,
      failover,
      resolve,
      prober,
      report: (one) => reports.push(one),
      settings: { ...healthSettings, ...settings },
      ...(certificates && { certificates }),
    });
    return {
      health,
      configure: (...routes: Parameters<typeof route>[]) => {
        const configured = routes.map((args) => route(...args));
        failover.configure(configured);
        health.configure(configured);
        return settle();
      },
    };
  }

  async function resolve({ host, port }: { host: string; port: number }): Promise<Resolution> {
    const found = addresses[host] ?? [host];
    if (found.length === 0) return { ok: false, code: 'dns_failure', message: `${host} has no address` };
    return { ok: true, targets: found.map((address) => target(address, host, port)) };
  }

  function probe({ address }: Target): Promise<ProbeOutcome> {
    const { promise, resolve: settled } = Promise.withResolvers<ProbeOutcome>();
    asked.push({
      address,
      at: clock.now() - start,
      answer: (outcome) => {
        settled({ sipCode: null, responseTimeMs: null, error: null, ...outcome });
        return settle();
      },
    });
    return promise;
  }

  async function advance(ms: number): Promise<void> {
    clock.advance(ms);
    await settle();
  }

  return {
    get clock() {
      return clock;
    },
    get failover() {
      return failover;
    },
    get asked() {
      return asked;
    },
    get reports() {
      return reports;
    },
    get addresses() {
      return addresses;
    },
    set addresses(value) {
      addresses = value;
    },
    get moved() {
      return moved;
    },
    set moved(value) {
      moved = value;
    },
    get prober() {
      return prober;
    },
    probes,
    resolve,
    advance,
  };
}
