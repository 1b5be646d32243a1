import { type ConnectionFailure, connectionFailure } from '#shared/connection-faults.ts';
import { NOWHERE, type Peer } from '../drachtio-port/lines.ts';
import { type Flow, TransportError } from '../transport/flow.ts';
import type { Context } from './context.ts';
import type { Destination, Way } from './destination.ts';
import type { Ourselves } from './requests.ts';

/** Selects the connection for a request, and our address on it. */
interface WaysContext {
  readonly identity: Context['identity'];
  readonly transport: Pick<Context['transport'], 'find' | 'connect'>;
}

export class Ways {
  readonly #context: WaysContext;

  constructor(context: WaysContext) {
    this.#context = context;
  }

  /**
   * For a destination from the application: an open connection to exactly this address and port, else the
   * destination itself. When the far end must prove a domain (RFC 5922), only a connection opened for that domain
   * is reused; the transport keeps those by name.
   */
  to(destination: Destination): Way {
    const dialled: Way = { destination, namedBy: 'application' };
    if (destination.serverName !== destination.host) return dialled;
    const flow = this.#context.transport.find(destination.host, destination.port);
    return flow && !flow.closed && flow.protocol === destination.protocol ? { flow } : dialled;
  }

  /** @param secure whether our Contact must be a sips URI */
  ourselves(way: Way, branch: string, secure: boolean): Ourselves {
    const { identity } = this.#context;
    const [protocol, local] =
      'flow' in way
        ? [way.flow.protocol, way.flow.localAddress]
        : [way.destination.protocol, identity.localTowards(way.destination.host)];
    return {
      hostPort: identity.hostPort(protocol, local),
      contact: identity.contact(protocol, local, secure),
      via: identity.via(protocol, local, branch),
      transport: protocol === 'wss' ? 'ws' : 'tls',
    };
  }

  /** Calls one of the two: `ready` at once when the connection is open, else when it has been opened. */
  reach(way: Way, ready: (flow: Flow) => void, failed: (failure: ConnectionFailure) => void): void {
    if ('flow' in way) {
      ready(way.flow);
      return;
    }
    const { host, port, protocol, serverName } = way.destination;
    if (protocol !== 'tls') {
      setImmediate(() =>
        failed(connectionFailure('unknown', `${host}:${port}: a WebSocket client cannot be dialed`)),
      );
      return;
    }
    const name = serverName === host ? {} : { serverName };
    this.#context.transport
      .connect({ host, port, protocol, ...name }, way.namedBy)
      .then(ready, (error: unknown) => failed(failureOf(error)));
  }
}

function failureOf(error: unknown): ConnectionFailure {
  if (error instanceof TransportError) return error.failure;
  return connectionFailure('unknown', error instanceof Error ? error.message : String(error));
}

export function peerOf(flow: Flow | null): Peer {
  if (!flow) return NOWHERE;
  return { protocol: flow.protocol, address: flow.remoteAddress, port: flow.remotePort };
}

export function peerOfWay(way: Way): Peer {
  if ('flow' in way) return peerOf(way.flow);
  const { protocol, host, port } = way.destination;
  return { protocol, address: host, port };
}
