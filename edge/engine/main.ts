/**
 * The embedded SIP engine, a separate program. Its first line on stdin is the configuration, further lines are
 * commands; it writes events to stdout (shared/engine-protocol). It exits when stdin closes, so that it never
 * outlives the edge.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '#shared/clock.ts';
import { exitUnusable } from '#shared/engine-protocol/configuration.ts';
import { type EngineCommand, type EngineEvent, lineOf, readCommand } from '#shared/engine-protocol/lines.ts';
import { type GuardedParts, guardProgram } from '#shared/fault-guard.ts';
import { collectGarbage } from '#shared/give-memory-back.ts';
import { optimizeWhenBusy } from '#shared/optimizers.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { processMetrics } from '#shared/process-metrics.ts';
import { CertificateWatch } from './certificate-watch.ts';
import { ConfigurationError, parseConfiguration, stackOptions } from './configuration.ts';
import type { Log } from './core/context.ts';
import { Stack } from './stack.ts';

/** How often metrics and dialogs are reported. */
const TELL_EVERY_MS = 10_000;
/** A peer or application that does not close its connection must not keep the engine alive. */
const CLOSE_WITHIN_MS = 5_000;

const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
) as { version: string };

const guard = guardProgram({ program: 'engine', version });

function emit(event: EngineEvent): void {
  process.stdout.write(lineOf(event));
}

const log: Log = (level, message, fields = {}) => emit({ ...fields, event: 'log', level, message });

function startFailure(error: unknown): never {
  log('error', explain(error));
  process.exit(exitUnusable);
}

/** What is wrong and what to do, for the failures that operators see. */
function explain(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  const message = text(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EADDRINUSE')
    return `${message}: the port is in use by another program; stop it or configure another port`;
  if (code === 'EADDRNOTAVAIL')
    return `${message}: this machine does not have that address; configure one of its addresses`;
  if (code === 'EACCES') return `${message}: ports below 1024 need privileges; configure a higher port`;
  if (code.startsWith('ERR_OSSL') || code.startsWith('ERR_SSL')) {
    return `the TLS certificate or its key cannot be used: ${message}; check that both are PEM and belong together`;
  }
  return `the engine cannot start: ${message}`;
}

async function run(): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done) throw new ConfigurationError('no configuration received on stdin');
  const configuration = parseConfiguration(first.value);
  const stack = new Stack(stackOptions(configuration), systemClock, log, (sources) =>
    emit({ event: 'refusals', sources }),
  );
  if (configuration.dataFolder) guard.attach(guarded(stack, configuration.dataFolder));
  // The garbage of the start, while no peer can be delayed.
  collectGarbage();
  const addresses = await stack.listen();
  const { publicHost, tls } = configuration;
  const watch = new CertificateWatch({ file: tls.cert, publicHost }, systemClock, log);
  watch.taken(stack.certificate);
  emit({ event: 'ready', ...addresses });
  optimizeWhenBusy();

  const reporting = setInterval(() => {
    watch.look();
    emit({ event: 'metrics', metrics: { ...stack.metrics(), ...watch.metrics(), ...processMetrics() } });
    emit({ event: 'dialogs', ids: stack.dialogs() });
  }, TELL_EVERY_MS);
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    clearInterval(reporting);
    setTimeout(() => process.exit(0), CLOSE_WITHIN_MS).unref();
    await stack.close();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // The reader of our output is gone, so nobody would stop us.
  process.stdout.on('error', stop);

  for await (const line of { [Symbol.asyncIterator]: () => lines }) {
    if (command(line, stack, watch)) break;
  }
  await stop();
}

function guarded(stack: Stack, dataFolder: string): GuardedParts {
  return {
    dataFolder,
    underWay: () => ({ ...stack.metrics(), dialogIds: stack.dialogs().slice(0, 100) }),
    log: (error, message, facts) => {
      const { message: what, stack: where } = error instanceof Error ? error : new Error(String(error));
      log('error', `${message}: ${what}`, { ...facts, stack: where });
    },
    drain: () => stack.close(),
    drainMs: CLOSE_WITHIN_MS,
  };
}

/** Executes a command line; a faulty one is logged. @returns whether the engine must stop */
function command(line: string, stack: Stack, watch: CertificateWatch): boolean {
  let order: EngineCommand;
  try {
    order = readCommand(line);
  } catch (error) {
    log('error', text(error));
    return false;
  }
  if (order.command === 'stop') return true;
  try {
    execute(order, stack, watch);
  } catch (error) {
    log('error', `command ${order.command}: ${text(error)}`);
  }
  return false;
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function execute(order: EngineCommand, stack: Stack, watch: CertificateWatch): void {
  switch (order.command) {
    case 'reload-certificates':
      stack.reloadCertificates();
      watch.taken(stack.certificate);
      log('info', 'certificates reloaded');
      break;
    case 'ticket-keys':
      stack.setTicketKeys(Buffer.from(order.keys, 'base64'));
      break;
    case 'block':
      stack.block(order.address, order.seconds);
      break;
    case 'sources':
      stack.setKnown(order.sources);
      break;
    case 'allowed-targets':
      stack.setAllowedTargets(parseNetworks(order.networks));
      break;
    case 'end-dialogs':
      stack.endDialogs(order.ids);
      break;
  }
}

run().catch(startFailure);
