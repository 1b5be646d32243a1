/** The edge as a program: settings, start, signals, drain. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownerOnly } from '#shared/private-folder.ts';
import { readSettings } from './config.ts';
import { Edge } from './edge.ts';
import { createLog } from './log.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
  version: string;
};

async function run(): Promise<void> {
  ownerOnly();
  const settings = readSettings();
  const log = createLog(settings.logLevel);
  // A bug in one call must not end the others: it reaches the log with its stack, and the process goes on.
  process.on('uncaughtException', (error) => log.error({ err: error }, 'unexpected error'));
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unexpected rejection'));
  const edge = await Edge.start(settings, log, `Trunkline/${version}`);
  log.info({ sip: `${settings.sip.host}:${settings.sip.port}` }, 'edge takes calls');
  let stopping = false;
  const stop = (): void => {
    if (stopping) {
      edge.hurry();
      return;
    }
    stopping = true;
    edge.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'the edge did not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => edge.reloadCertificates());
}

run().catch((error: unknown) => {
  console.error(`edge: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
