import { readFileSync } from 'node:fs';
import { type EngineConfiguration, engineConfiguration } from '#shared/engine-protocol/configuration.ts';
import type { EngineLimits, TransportLimits } from '#shared/engine-protocol/limits.ts';
import { fits } from '#shared/shapes.ts';
import { DEFAULT_MESSAGE_LIMITS } from './message/limits.ts';
import type { StackOptions } from './stack.ts';
import type { KeyPair, TlsMaterial } from './transport/certificates.ts';
import { readClientCertificates } from './transport/client-certificates.ts';
import { DEFAULT_TRANSPORT_LIMITS } from './transport/limits.ts';

/** The configuration cannot be used; the message says where and why. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Reads the configuration line. @throws ConfigurationError */
export function parseConfiguration(line: string): EngineConfiguration {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new ConfigurationError(`the first line on stdin must be the configuration in JSON: ${text(error)}`);
  }
  if (fits(engineConfiguration, value)) return value;
  const fault = engineConfiguration.fault(value);
  const where = fault?.at ? `at ${fault.at}` : 'at the top level';
  throw new ConfigurationError(`invalid configuration ${where}: ${fault?.what}`);
}

export function stackOptions(configuration: EngineConfiguration): StackOptions {
  const { tls, wss, publicHost, app, hep, limits = {}, ticketKeys } = configuration;
  return {
    transport: {
      tls: { host: tls.host, port: tls.port },
      ...(wss === null ? {} : { wss }),
      certificates: () => readCertificates(configuration),
      limits: transportLimits(limits),
      ...(ticketKeys !== undefined && { ticketKeys: Buffer.from(ticketKeys, 'base64') }),
    },
    publicHost,
    port: {
      host: app.host,
      port: app.port,
      secret: app.secret,
      maxFrameBytes: limits.maxFrameBytes ?? 1_048_576,
      maxQueuedBytes: limits.maxAppQueuedBytes ?? 64 * 1_048_576,
      maxClients: limits.maxApps ?? 64,
      authenticateMs: limits.appAuthenticateMs ?? 10_000,
    },
    hep,
    messages: {
      maxBytes: limits.maxMessageBytes ?? DEFAULT_MESSAGE_LIMITS.maxBytes,
      maxHeaders: limits.maxHeaders ?? DEFAULT_MESSAGE_LIMITS.maxHeaders,
    },
    requestsPerSecond: limits.requestsPerSecond ?? 10_000,
    maxTransactions: limits.maxTransactions ?? 50_000,
  };
}

/** The transport's limits; missing ones take their defaults. */
function transportLimits(given: Partial<EngineLimits>): TransportLimits {
  const ours = Object.entries(given).filter(([name]) => name in DEFAULT_TRANSPORT_LIMITS);
  return { ...DEFAULT_TRANSPORT_LIMITS, ...Object.fromEntries(ours) };
}

function readCertificates({ tls, clientTls }: EngineConfiguration): TlsMaterial {
  return {
    server: { cert: readPem(tls.cert, 'server certificate'), key: readPem(tls.key, 'server key') },
    authorities: clientTls.ca === null ? [] : [readPem(clientTls.ca, 'CA certificates')],
    clients: clientTls.folder === null ? new Map() : clientCertificates(clientTls.folder),
  };
}

function clientCertificates(folder: string): ReadonlyMap<string, KeyPair> {
  try {
    return readClientCertificates(folder);
  } catch (error) {
    throw new ConfigurationError(text(error));
  }
}

function readPem(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigurationError(`${what}: cannot read ${path}: ${text(error)}`);
  }
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
