import { networkInterfaces } from 'node:os';
import { isAnyAddress } from '#shared/networks.ts';

/** The address of this machine when it listens on `host`: `host` itself, or the first external address. */
export function localAddress(host: string): string {
  if (!isAnyAddress(host)) return host;
  for (const addresses of Object.values(networkInterfaces())) {
    for (const address of addresses ?? []) {
      if (!address.internal && address.family === 'IPv4') return address.address;
    }
  }
  return '127.0.0.1';
}

/** `host:port`, IPv6 addresses in brackets. */
export function hostPort(host: string, port: number): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`;
}
