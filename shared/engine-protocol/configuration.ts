/** The first line on the engine's standard input. */
import { integer, name, objectOf, orNull, type Shaped, text } from '../shapes.ts';
import { someLimits } from './limits.ts';

/** `port` 0: any free port. */
const endpoint = { host: name, port: integer(0, 65_535) };
export const address = objectOf(endpoint);

export const engineConfiguration = objectOf(
  {
    /** Listener for SIP over TLS; `cert` and `key` are paths of PEM files. */
    tls: objectOf({ ...endpoint, cert: name, key: name }),
    /** Listener for SIP over WebSocket, with the same certificate; null: none. */
    wss: orNull(address),
    /** Name or address under which peers reach us; null: the local address of each connection. */
    publicHost: orNull(name),
    /** Listener for applications, which authenticate with the secret. */
    app: objectOf({ ...endpoint, secret: text }),
    clientTls: objectOf({
      /** PEM file with the authorities of peers' certificates; null: those that Node knows. */
      ca: orNull(name),
      /** Folder of client certificates (edge/engine/transport/client-certificates.ts); null: there are none. */
      folder: orNull(name),
    }),
    /** Where copies of SIP messages are sent (HEP3 over TCP), with the key that they carry; null: nowhere. */
    hep: orNull(objectOf(endpoint, { key: text })),
  },
  {
    /** Limits without a value here have the engine's default. */
    limits: someLimits,
    /**
     * Keys of TLS session tickets, 48 octets in base64: with the same ones after a restart, peers resume their sessions.
     * Absent: the engine makes its own.
     */
    ticketKeys: text,
    /** Folder for crash reports; absent: they go to standard error. */
    dataFolder: name,
  },
);
export type EngineConfiguration = Shaped<typeof engineConfiguration>;

/**
 * Exit code of an engine whose configuration or environment needs correction: starting it again would not help. Any
 * other code is a fault, and the engine is started again.
 */
export const exitUnusable = 2;
