/** What the program does: settings, database, first start, listen; on SIGTERM drain and end. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { guardProgram, type ProgramGuard } from '#shared/fault-guard.ts';
import { collectGarbage, trimFreedPages } from '#shared/give-memory-back.ts';
import { logOutput } from '#shared/log-output.ts';
import { optimizeWhenBusy } from '#shared/optimizers.ts';
import { keepPrivate } from '#shared/private-folder.ts';
import { startTracing } from '#shared/tracing/start.ts';
import { createApp } from './app.ts';
import { bootstrap } from './bootstrap.ts';
import { ensureCertificates } from './certificates/index.ts';
import { holdDataFolder } from './db/index.ts';
import type { ControlLimits } from './limits.ts';
import { plainWords } from './operations/index.ts';
import { type ControlConfig, readControlConfig } from './settings/index.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
  version: string;
};

/** Time for running requests and background work after SIGTERM, ms: less than an init system waits before it kills. */
const shutdownMs = 10_000;

/** Time after the start until edges and their supervisor have connected, ms; then what only the start needed is given back. */
const settledMs = 2000;

export interface ControlOptions {
  /** Other limits than those of the product; for tests. */
  readonly limits?: ControlLimits;
}

/** Runs until a signal ends the process. */
export async function runControl(options: ControlOptions = {}): Promise<void> {
  const guard = guardProgram({ program: 'control', version });
  try {
    await start(readControlConfig(), guard, options);
  } catch (error) {
    const plain = plainWords(error);
    if (plain === null) guard.startFailed(error);
    console.error('The control plane could not start:', plain ?? error);
    // The database and its timers may be open already.
    process.exit(1);
  }
}

async function start(config: ControlConfig, guard: ProgramGuard, options: ControlOptions): Promise<void> {
  const tracing = await startTracing(config.tracing, {
    service: 'trunkline-control',
    version,
    failing: (error) => logger.warn({ err: error }, 'the collector of traces does not take spans'),
  });
  const logger = pino(
    {
      level: config.log.level,
      base: { program: 'control', instance: config.instanceId },
      ...(tracing && { mixin: () => tracing.active ?? {} }),
    },
    logOutput(config.log.form),
  );
  const open = keepPrivate(config.dataFolder);
  if (open.length > 0)
    logger.warn(
      { files: open },
      'paths of the data folder are accessible to other users: owned by somebody else, or shared (sticky bit)',
    );
  let control: Awaited<ReturnType<typeof createApp>> | null = null;
  guard.attach({
    dataFolder: config.dataFolder,
    underWay: () => control?.underWay() ?? { starting: true },
    log: (error, message, facts) => logger.fatal({ err: error, ...facts }, message),
    drain: async () => control?.drain(),
    drainMs: shutdownMs,
  });
  const release = holdDataFolder(config.dataFolder);
  control = await createApp({ config, logger, tracing, ...options });
  const running = control;
  const certificates = await ensureCertificates({
    dataFolder: config.dataFolder,
    given: config.tls,
    publicHost: config.sip.publicHost,
    now: Date.now(),
  });
  await bootstrap(control.services, certificates.ca);
  await control.app.listen({ host: config.host, port: config.port });
  logger.info({ url: config.url, data: config.dataFolder }, 'control plane is listening');

  let ending = false;
  const end = (signal: NodeJS.Signals) => {
    if (ending) return;
    ending = true;
    logger.info({ signal }, 'control plane is shutting down');
    const close = async () => {
      await running.leave();
      const tooLong = setTimeout(() => {
        logger.error('requests and background work did not end in time');
        process.exit(1);
      }, shutdownMs);
      await running.close();
      // It still fires when something keeps the program from exiting.
      tooLong.unref();
      release();
    };
    close().catch((error: unknown) => {
      logger.error({ err: error }, 'the control plane did not end cleanly');
      process.exit(1);
    });
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  await running.begin();
  optimizeWhenBusy();
  setTimeout(() => {
    collectGarbage();
    trimFreedPages();
  }, settledMs).unref();
}
