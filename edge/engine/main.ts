/**
 * The embedded SIP engine, a separate program. Its first line on stdin is the configuration, further lines are
 * commands; it writes one JSON object per line to stdout. It exits when stdin closes, so that it never outlives
 * the edge.
 */
import { readFileSync } from 'node:fs';
import type { BlockList } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { systemClock } from '#shared/clock.ts';
import { type GuardedParts, guardProgram } from '#shared/fault-guard.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { CertificateWatch } from './certificate-watch.ts';
import { ConfigurationError, parseConfiguration, stackOptions } from './configuration.ts';
import type { Log } from './core/context.ts';
import { Stack } from './stack.ts';
import type { SourcesByOwner } from './transport/known-sources.ts';

/** How often metrics and dialogs are reported. */
const TELL_EVERY_MS = 10_000;
/** A peer or application that does not close its connection must not keep the engine alive. */
const CLOSE_WITHIN_MS = 5_000;
/** Exit codes: a configuration or environment that needs correction; a bug. */
const EXIT_UNUSABLE = 2;

const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
) as { version: string };

/** Addresses and CIDR blocks by the organization that names them. */
const Networks = Type.Array(Type.String());
const Sources = Type.Record(Type.String(), Networks);

const guard = guardProgram({ program: 'engine', version });

function emit(event: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

const log: Log = (level, message, fields = {}) => emit({ event: 'log', level, message, ...fields });

function startFailure(error: unknown): never {
  log('error', explain(error));
  process.exit(EXIT_UNUSABLE);
}

/** What is wrong and what to do, for the failures that operators see. */
function explain(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'EADDRINUSE')
    return `${message}: another program has this port; stop it or configure another port`;
  if (code === 'EADDRNOTAVAIL')
    return `${message}: this machine has no such address; configure one that it has`;
  if (code === 'EACCES') return `${message}: ports below 1024 need a privilege; configure a higher port`;
  if (code.startsWith('ERR_OSSL') || code.startsWith('ERR_SSL')) {
    return `the TLS certificate or its key cannot be used: ${message}; check that both are PEM and belong together`;
  }
  return `the engine cannot start: ${message}`;
}

async function run(): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done) throw new ConfigurationError('no configuration came on stdin');
  const configuration = parseConfiguration(first.value);
  const stack = new Stack(stackOptions(configuration), systemClock, log, (sources) =>
    emit({ event: 'refusals', sources }),
  );
  if (configuration.dataFolder) guard.attach(guarded(stack, configuration.dataFolder));
  const addresses = await stack.listen();
  const { publicHost, tls } = configuration;
  const watch = new CertificateWatch({ file: tls.cert, publicHost }, systemClock, log);
  watch.taken(stack.certificate);
  emit({ event: 'ready', ...addresses });

  const telling = setInterval(() => {
    watch.look();
    emit({ event: 'metrics', metrics: { ...stack.metrics(), ...watch.metrics() } });
    emit({ event: 'dialogs', ids: stack.dialogs() });
  }, TELL_EVERY_MS);
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    clearInterval(telling);
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

/** Executes a command line. @returns whether the engine must stop */
function command(line: string, stack: Stack, watch: CertificateWatch): boolean {
  let name: unknown;
  try {
    const value: unknown = JSON.parse(line);
    const order = typeof value === 'object' && value !== null ? value : {};
    name = 'command' in order ? order.command : undefined;
    switch (name) {
      case 'stop':
        return true;
      case 'reload-certificates':
        stack.reloadCertificates();
        watch.taken(stack.certificate);
        log('info', 'certificates reloaded');
        break;
      case 'block':
        block(order, stack);
        break;
      case 'sources':
        stack.setKnown(sourcesOf(order));
        break;
      case 'allowed-targets':
        stack.setAllowedTargets(networksOf(order));
        break;
      case 'end-dialogs':
        stack.endDialogs(idsOf(order));
        break;
      default:
        throw new Error('unknown command');
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    log('error', `command ${String(name ?? line.slice(0, 80))}: ${message}`);
  }
  return false;
}

/** @throws Error when it lists no dialogs */
function idsOf(order: object): string[] {
  const ids = 'ids' in order ? order.ids : null;
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string')) throw new Error('ids missing');
  return ids;
}

/** @throws Error when it does not name an address and a number of seconds */
function block(order: object, stack: Stack): void {
  const address = 'address' in order ? order.address : null;
  const seconds = 'seconds' in order ? order.seconds : null;
  if (typeof address !== 'string' || typeof seconds !== 'number')
    throw new Error('address or seconds missing');
  stack.block(address, seconds);
}

/** @throws Error when it does not list sources */
function sourcesOf(order: object): SourcesByOwner {
  const sources = 'sources' in order ? order.sources : null;
  if (!Value.Check(Sources, sources)) throw new Error('sources are no lists of addresses by owner');
  return sources;
}

/** @throws Error when it does not list addresses and CIDR blocks */
function networksOf(order: object): BlockList {
  const networks = 'networks' in order ? order.networks : null;
  if (!Value.Check(Networks, networks)) throw new Error('networks are no list of addresses');
  return parseNetworks(networks);
}

run().catch(startFailure);
