/** The first line on the engine's standard input. */
import { type Static, Type } from 'typebox';
import { EngineLimitsSchema } from './limits.ts';

const closed = { additionalProperties: false };
const Host = Type.String({ minLength: 1 });
const Path = Type.String({ minLength: 1 });

/** `port` 0: any free port. */
export const Address = Type.Object(
  { host: Host, port: Type.Integer({ minimum: 0, maximum: 65_535 }) },
  closed,
);

export const EngineConfigurationSchema = Type.Object(
  {
    /** Listener for SIP over TLS; `cert` and `key` are paths of PEM files. */
    tls: Type.Object({ ...Address.properties, cert: Path, key: Path }, closed),
    /** Listener for SIP over WebSocket, with the same certificate; null: none. */
    wss: Type.Union([Type.Null(), Address]),
    /** Name or address under which peers reach us; null: the local address of each connection. */
    publicHost: Type.Union([Type.Null(), Host]),
    /** Listener for applications, which authenticate with the secret. */
    app: Type.Object({ ...Address.properties, secret: Type.String() }, closed),
    clientTls: Type.Object(
      {
        /** PEM file with the authorities of peers' certificates; null: those that Node knows. */
        ca: Type.Union([Type.Null(), Path]),
        /** Folder of client certificates (edge/engine/transport/client-certificates.ts); null: there are none. */
        folder: Type.Union([Type.Null(), Path]),
      },
      closed,
    ),
    /** Where copies of SIP messages are sent (HEP3 over TCP), with the key that they carry; null: nowhere. */
    hep: Type.Union([Type.Null(), Type.Object({ ...Address.properties, key: Type.Optional(Type.String()) })]),
    /** Limits without a value here have the engine's default. */
    limits: Type.Optional(Type.Partial(EngineLimitsSchema, closed)),
    /** Folder for crash reports; absent: they go to standard error. */
    dataFolder: Type.Optional(Path),
  },
  closed,
);
export type EngineConfiguration = Static<typeof EngineConfigurationSchema>;

/**
 * Exit code of an engine whose configuration or environment needs correction: starting it again would not help. Any
 * other code is a fault, and the engine is started again.
 */
export const exitUnusable = 2;
