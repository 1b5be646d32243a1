import { type ConnectionFailure, connectionFailure } from '#shared/connection-faults.ts';
import { NOWHERE, type Peer } from '../drachtio-port/lines.ts';
import { type Flow, TransportError } from '../transport/flow.ts';
import type { Context } from './context.ts';
import type { Destination, NextHop } from './destination.ts';
import type { LocalEndpoint } from './requests.ts';

/** Selects the connection for a request, and our address on it. */
interface NextHopsContext {
  readonly identity: Context['identity'];
  readonly transport: Pick<Context['transport'], 'find' | 'connect'>;
}

export class NextHops {
  readonly #context: NextHopsContext;

  constructor(context: NextHopsContext) {
    this.#context = context;
  }

  /**
   * For a destination from the application: an open connection to exactly this address and port, else the
   * destination itself. When the far end must prove a domain (RFC 5922), only a connection opened for that domain
   * is reused; the transport keeps those by name.
   */
  to(destination: Destination): NextHop {
    const dialled: NextHop = { destination, namedBy: 'application' };
    if (destination.serverName !== destination.host) return dialled;
    const flow = this.#context.transport.find(destination.host, destination.port);
    return flow && !flow.closed && flow.protocol === destination.protocol ? { flow } : dialled;
  }

  /** @param secure whether our Contact must be a sips URI */
  localEndpoint(nextHop: NextHop, branch: string, secure: boolean): LocalEndpoint {
    const { identity } = this.#context;
    const [protocol, local] =
      'flow' in nextHop
        ? [nextHop.flow.protocol, nextHop.flow.localAddress]
        : [nextHop.destination.protocol, identity.localTowards(nextHop.destination.host)];
    return {
      hostPort: identity.hostPort(protocol, local),
      contact: identity.contact(protocol, local, secure),
      via: identity.via(protocol, local, branch),
      transport: protocol === 'wss' ? 'ws' : 'tls',
    };
  }

  /** Calls one of the two: `ready` at once when the connection is open, else when it has been opened. */
  reach(nextHop: NextHop, ready: (flow: Flow) => void, failed: (failure: ConnectionFailure) => void): void {
    if ('flow' in nextHop) {
      ready(nextHop.flow);
      return;
    }
    const { host, port, protocol, serverName } = nextHop.destination;
    if (protocol !== 'tls') {
      setImmediate(() =>
        failed(connectionFailure('unknown', `${host}:${port}: a WebSocket client cannot be dialed`)),
      );
      return;
    }
    const name = serverName === host ? {} : { serverName };
    this.#context.transport
      .connect({ host, port, protocol, ...name }, nextHop.namedBy)
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

export function peerOfNextHop(nextHop: NextHop): Peer {
  if ('flow' in nextHop) return peerOf(nextHop.flow);
  const { protocol, host, port } = nextHop.destination;
  return { protocol, address: host, port };
}
