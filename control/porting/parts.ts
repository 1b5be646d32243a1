/** The parts of porting besides the services of all areas; created once at the start. */
import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import type { Carrier } from './carrier.ts';
import { httpCarrier } from './carrier-http.ts';
import { type CheckPortability, portabilityCheck } from './check.ts';
import type { PortingDeps } from './deps.ts';
import { DocumentFiles } from './documents.ts';
import { Gate } from './gate.ts';
import { type PortingMetrics, portingMetrics } from './metrics.ts';
import { type Scan, virusScan } from './virus-scan.ts';

export interface PortingParts {
  /** null: an operator does the work by hand. */
  readonly carrier: Carrier | null;
  readonly check: CheckPortability;
  readonly files: DocumentFiles;
  /** Limits uploads being read. */
  readonly gate: Gate;
  readonly scan: Scan;
  readonly metrics: PortingMetrics;
}

export function portingParts(
  services: PortingDeps,
  log: FastifyBaseLogger,
  registry: Registry,
): PortingParts {
  const { clock, config, limits, secrets } = services;
  const { carrier: settings, scan } = config.porting;
  const { carrierTimeoutMs: timeoutMs, scanTimeoutMs, uploadsAtOnce } = limits.porting;
  const carrier = settings && httpCarrier({ ...settings, timeoutMs }, clock);
  const gate = new Gate(uploadsAtOnce);
  return {
    carrier,
    check: portabilityCheck(services, carrier, log),
    files: new DocumentFiles({
      db: services.database.db,
      folder: join(config.dataFolder, 'port-documents'),
      isInDatabase: services.replica.hasOthers,
      secrets,
    }),
    gate,
    scan: virusScan(scan, clock, scanTimeoutMs, log),
    metrics: portingMetrics(registry, gate),
  };
}
