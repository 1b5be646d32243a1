/** What the program does: settings, start; on SIGTERM drain and end. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { guardProgram } from '#shared/fault-guard.ts';
import { optimizeWhenBusy } from '#shared/optimizers.ts';
import { storageWords } from '#shared/storage-fault.ts';
import { readSettings } from './config.ts';
import { Edge } from './edge.ts';
import { createLog } from './log.ts';
import { growNurseryWhenBusy } from './nursery.ts';
import { plainEnvironment } from './plain-environment.ts';
import type { EdgeOptions } from './start/context.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
  version: string;
};

/** Time limit after a drain for the last BYEs and reports, ms. */
const closeMs = 15_000;

/** Runs until a signal ends the process. */
export async function runEdge(options: EdgeOptions = {}): Promise<void> {
  await start(options).catch((error: unknown) => {
    const words = storageWords(
      error,
      'Move it away with its -wal and -shm and start again; reports that control has not received are lost.',
    );
    console.error(`edge: ${words ?? (error instanceof Error ? error.message : String(error))}`);
    process.exit(1);
  });
}

async function start(options: EdgeOptions): Promise<void> {
  plainEnvironment();
  const guard = guardProgram({ program: 'edge', version });
  const settings = readSettings();
  const log = createLog(settings.log, undefined, settings.tracing !== null);
  let edge: Edge | null = null;
  let stopping = false;
  guard.attach({
    dataFolder: settings.dataDir,
    underWay: () => ({ stopping, ...(edge?.underWay() ?? { starting: true }) }),
    log: (error, message, facts) => log.fatal({ err: error, ...facts }, message),
    // Live calls may end, new ones are rejected.
    drain: async () => edge?.stop(),
    drainMs: settings.drainTimeoutMs + closeMs,
  });
  edge = await Edge.start(settings, log, `Trunkline/${version}`, options);
  optimizeWhenBusy();
  growNurseryWhenBusy();
  log.info({ sip: `${settings.sip.host}:${settings.sip.port}` }, 'edge is ready');
  const started = edge;
  const stop = (): void => {
    // The second signal, or the first one during a drain after a fault.
    if (stopping || started.stopping) {
      started.hurry();
      return;
    }
    stopping = true;
    started.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the edge did not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => started.reloadCertificates());
}
