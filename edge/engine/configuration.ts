import { readFileSync } from 'node:fs';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { DEFAULT_MESSAGE_LIMITS } from './message/limits.ts';
import type { StackOptions } from './stack.ts';
import type { KeyPair, TlsMaterial } from './transport/certificates.ts';
import { readClientCertificates } from './transport/client-certificates.ts';
import { DEFAULT_TRANSPORT_LIMITS, type TransportLimits } from './transport/limits.ts';

const Port = Type.Integer({ minimum: 0, maximum: 65_535 });
const Host = Type.String({ minLength: 1 });
const Count = Type.Integer({ minimum: 1 });
const Address = Type.Object({ host: Host, port: Port }, { additionalProperties: false });

const Limits = Type.Object(
  {
    /** SIP requests per second and source address. */
    requestsPerSecond: Type.Optional(Count),
    /** Concurrent server transactions. */
    maxTransactions: Type.Optional(Count),
    /** Octets in one frame from the application. */
    maxFrameBytes: Type.Optional(Count),
    /** Octets queued for an application that does not read. */
    maxAppQueuedBytes: Type.Optional(Count),
    maxApps: Type.Optional(Count),
    /** Milliseconds in which an application must authenticate after connecting. */
    appAuthenticateMs: Type.Optional(Count),
    maxMessageBytes: Type.Optional(Count),
    maxHeaders: Type.Optional(Count),
    maxConnections: Type.Optional(Count),
    maxConnectionsPerAddress: Type.Optional(Count),
    handshakesPerSecond: Type.Optional(Count),
    strangersPerAddress: Type.Optional(Count),
    strangersPerNetwork: Type.Optional(Count),
    strangerHandshakesPerNetwork: Type.Optional(Count),
    strangerHandshakesPerSecond: Type.Optional(Count),
    writeTimeoutMs: Type.Optional(Count),
    firstMessageTimeoutMs: Type.Optional(Count),
    strangerIdleTimeoutMs: Type.Optional(Count),
    maxQueuedBytes: Type.Optional(Count),
    silenceTimeoutMs: Type.Optional(Count),
    handshakeTimeoutMs: Type.Optional(Count),
    connectTimeoutMs: Type.Optional(Count),
    idleTimeoutMs: Type.Optional(Count),
    pingIntervalMs: Type.Optional(Count),
    pongTimeoutMs: Type.Optional(Count),
    requirePong: Type.Optional(Type.Boolean()),
    tcpKeepaliveMs: Type.Optional(Count),
    messageTimeoutMs: Type.Optional(Count),
    drainTimeoutMs: Type.Optional(Count),
  },
  { additionalProperties: false },
);

const ConfigurationSchema = Type.Object(
  {
    tls: Type.Object({ host: Host, port: Port, cert: Host, key: Host }, { additionalProperties: false }),
    wss: Type.Union([Type.Null(), Address]),
    publicHost: Type.Union([Type.Null(), Host]),
    app: Type.Object({ host: Host, port: Port, secret: Type.String() }, { additionalProperties: false }),
    clientTls: Type.Object(
      { ca: Type.Union([Type.Null(), Host]), folder: Type.Union([Type.Null(), Host]) },
      { additionalProperties: false },
    ),
    hep: Type.Union([Type.Null(), Type.Object({ ...Address.properties, key: Type.Optional(Type.String()) })]),
    limits: Type.Optional(Limits),
    /** Folder for crash reports; absent: they go to standard error. */
    dataFolder: Type.Optional(Host),
  },
  { additionalProperties: false },
);

export type Configuration = Static<typeof ConfigurationSchema>;

/** The configuration cannot be used; the message says where and why. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Reads the configuration line. @throws ConfigurationError */
export function parseConfiguration(line: string): Configuration {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new ConfigurationError(`the first line on stdin must be the configuration in JSON: ${text(error)}`);
  }
  if (Value.Check(ConfigurationSchema, value)) return value;
  const [first] = Value.Errors(ConfigurationSchema, value);
  const where = first?.instancePath ? `at ${first.instancePath}` : 'at the top level';
  // For an unknown property the schema that fails is `false`.
  const what = first?.message === 'schema is false' ? 'there is no such setting' : first?.message;
  throw new ConfigurationError(`the configuration is wrong ${where}: ${what}`);
}

export function stackOptions(configuration: Configuration): StackOptions {
  const { tls, wss, publicHost, app, hep, limits = {} } = configuration;
  return {
    transport: {
      tls: { host: tls.host, port: tls.port },
      ...(wss === null ? {} : { wss }),
      certificates: () => readCertificates(configuration),
      limits: transportLimits(limits),
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
function transportLimits(given: Static<typeof Limits>): TransportLimits {
  const ours = Object.entries(given).filter(([name]) => name in DEFAULT_TRANSPORT_LIMITS);
  return { ...DEFAULT_TRANSPORT_LIMITS, ...Object.fromEntries(ours) };
}

function readCertificates({ tls, clientTls }: Configuration): TlsMaterial {
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
