/** The embedded SIP engine with the settings of this edge. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { zeroCounters } from '#shared/edge-metrics.ts';
import { EngineProcess } from '../engine-process.ts';
import type { Reporting } from '../reporting/reporting.ts';
import type { Signaling } from '../signaling/signaling.ts';
import { clock, type EdgeContext } from './context.ts';

/** @param unusable called when the engine cannot be started at all */
export function engineOf(
  { settings, limits, log, metrics }: EdgeContext,
  reporting: Reporting,
  signaling: Signaling,
  unusable: (error: Error) => void,
): EngineProcess {
  const { sip, tls } = settings;
  const secret = randomBytes(24).toString('hex');
  const engine: EngineProcess = new EngineProcess({
    program: join(import.meta.dirname, '..', 'engine', 'main.ts'),
    config: {
      tls: { host: sip.host, port: sip.port, cert: tls.cert, key: tls.key },
      wss: sip.wssPort === null ? null : { host: sip.host, port: sip.wssPort },
      publicHost: sip.publicHost,
      app: { host: '127.0.0.1', port: 0, secret },
      clientTls: { ca: tls.ca, folder: tls.clients },
      hep: reporting.hep,
      limits: { maxConnections: settings.maxConnections, ...limits.engine },
      dataFolder: settings.dataDir,
    },
    clock,
    log,
    onReady: (app) => signaling.connect({ ...app, secret }),
    onRestart: () => metrics.count('trunkline_edge_engine_restarts_total'),
    onRefusals: (sources) => {
      for (const [address, times] of Object.entries(sources)) {
        const seconds = signaling.refusedByEngine(address, times);
        if (seconds > 0) engine.block(address, seconds);
      }
    },
    onDialogs: (ids) => {
      const unowned = signaling.reconcile(ids);
      if (unowned.length > 0) engine.endDialogs(unowned);
    },
    onUnusable: () => unusable(new Error('the SIP engine cannot start; its log line above says why')),
  });
  return engine;
}

/** By Prometheus name. */
export function engineMetrics(engine: EngineProcess | null): Record<string, number> {
  const values = Object.entries(engine?.metrics ?? {});
  // An engine that does not run has no metrics, not zeros.
  if (values.length === 0) return {};
  const named = values.map(([name, value]) => [`trunkline_engine_${name}`, value] as const);
  return { ...zeroCounters('trunkline_engine_'), ...Object.fromEntries(named) };
}
