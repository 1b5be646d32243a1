/** Our identity in the messages that we write: hosts, ports, branches and tags. */
import { randomFillSync } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { isAnyAddress, isSameHost, plainAddress } from '#shared/networks.ts';
import { formatHostPort } from '../message/uri.ts';
import { BRANCH_COOKIE } from '../message/via.ts';

export type Protocol = 'tls' | 'wss';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** The default port of SIP over TLS (RFC 3261 section 19.1.2). */
export const TLS_PORT = 5061;

export class Identity {
  readonly #publicHost: string | null;
  readonly #tls: ListenAddress;
  readonly #wss: ListenAddress | null;
  /** Whether we listen on all addresses. */
  readonly #onAny: boolean;
  /** Of the connection last asked about: nearly always the same. */
  #last: { readonly protocol: Protocol; readonly local: string; readonly hostPort: string } | null = null;
  readonly #outgoingAddress = firstAddress();

  /** @param publicHost name or address under which peers reach us; null: the local address of each connection */
  constructor(publicHost: string | null, tls: ListenAddress, wss: ListenAddress | null) {
    this.#publicHost = publicHost;
    this.#tls = tls;
    this.#wss = wss;
    this.#onAny = isAnyAddress(tls.host);
  }

  /** Our host as a peer should see it. @param local our address on the connection to it */
  host(local: string): string {
    if (this.#publicHost !== null) return this.#publicHost;
    return this.#onAny ? local : this.#tls.host;
  }

  /** Our address towards a host to which no connection is open yet. */
  localTowards(host: string): string {
    const plain = plainAddress(host);
    if (plain === '::1') return '::1';
    return plain.startsWith('127.') || plain === 'localhost' ? '127.0.0.1' : this.#outgoingAddress;
  }

  port(protocol: Protocol): number {
    return protocol === 'wss' ? (this.#wss?.port ?? this.#tls.port) : this.#tls.port;
  }

  /**
   * Our Via. `rport` asks the peer to report the address that it sees (RFC 3581); `alias` lets it reuse the
   * connection for its own requests (RFC 5923 section 6).
   */
  via(protocol: Protocol, local: string, branch: string): string {
    if (protocol === 'wss') return `SIP/2.0/WSS ${this.hostPort('wss', local)};branch=${branch};rport`;
    const port = this.port('tls');
    const sentBy = formatHostPort(this.host(local), port === TLS_PORT ? undefined : port);
    return `SIP/2.0/TLS ${sentBy};branch=${branch};rport;alias`;
  }

  /** Our Contact: a sips URI when the request used one (RFC 3261 sections 8.1.1.8, 12.1.1). */
  contact(protocol: Protocol, local: string, secure: boolean): string {
    const transport = protocol === 'wss' ? 'ws' : 'tls';
    const scheme = secure ? 'sips' : 'sip';
    return `<${scheme}:${this.hostPort(protocol, local)};transport=${transport}>`;
  }

  hostPort(protocol: Protocol, local: string): string {
    if (this.#last?.local === local && this.#last.protocol === protocol) return this.#last.hostPort;
    const hostPort = formatHostPort(this.host(local), this.port(protocol));
    this.#last = { protocol, local, hostPort };
    return hostPort;
  }

  /** Whether a target is our own listener. */
  isSelf(host: string, port: number): boolean {
    if (port !== this.#tls.port) return false;
    if (isSameHost(host, this.#publicHost ?? '') || isSameHost(host, this.#tls.host)) return true;
    const plain = plainAddress(host);
    return this.#onAny && (plain === this.#outgoingAddress || plain.startsWith('127.'));
  }

  /** The listeners as applications read them: `tls/host:port`, comma-separated. */
  hostports(): { readonly public: string; readonly local: string } {
    const list = (host: (address: ListenAddress) => string) =>
      [
        `tls/${formatHostPort(host(this.#tls), this.#tls.port)}`,
        ...(this.#wss ? [`wss/${formatHostPort(host(this.#wss), this.#wss.port)}`] : []),
      ].join(',');
    return {
      public: list((address) => this.#publicHost ?? this.#bound(address)),
      local: list((address) => this.#bound(address)),
    };
  }

  #bound(address: ListenAddress): string {
    return isAnyAddress(address.host) ? this.#outgoingAddress : address.host;
  }
}

/** The address of the first non-loopback interface; loopback when there is none. */
function firstAddress(): string {
  for (const addresses of Object.values(networkInterfaces())) {
    for (const address of addresses ?? []) {
      if (!address.internal && address.family === 'IPv4') return address.address;
    }
  }
  return '127.0.0.1';
}

const pool = Buffer.allocUnsafe(4_096);
let used = pool.length;

/** Random octets in hexadecimal. Drawn in bulk: one system call per value would cost more than the transaction. */
function randomHex(octets: number): string {
  if (used + octets > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += octets;
  return pool.toString('hex', used - octets, used);
}

/** A globally unique branch (RFC 3261 section 8.1.1.7). */
export function newBranch(): string {
  return `${BRANCH_COOKIE}${randomHex(12)}`;
}

/** A tag: 64 random bits where 19.3 requires 32, so that dialogs cannot be guessed. */
export function newTag(): string {
  return randomHex(8);
}
