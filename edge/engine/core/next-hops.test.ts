import { describe, expect, it } from 'vitest';
import type { Flow } from '../transport/flow.ts';
import { Identity } from './identity.ts';
import { NextHops } from './next-hops.ts';

const open: Flow = {
  id: 1,
  protocol: 'tls',
  remoteAddress: '203.0.113.9',
  remotePort: 5061,
  localAddress: '203.0.113.20',
  localPort: 40_000,
  outbound: true,
  closed: false,
  draining: false,
  backlogged: false,
  group: '',
  receivedCount: 0,
  send: () => true,
  setAside: () => {},
  pin: () => {},
  unpin: () => {},
  pinned: false,
  keepFor: () => {},
  owe: () => {},
  settle: () => {},
  close: () => {},
};

const nextHops = new NextHops({
  identity: new Identity(null, { host: '203.0.113.20', port: 5061 }, null),
  transport: {
    find: (address, port) => (address === open.remoteAddress && port === open.remotePort ? open : undefined),
    connect: () => Promise.reject(new Error('not asked to connect')),
  },
});

describe('NextHops', () => {
  it('reuses the open connection to an address', () => {
    const destination = {
      host: '203.0.113.9',
      port: 5061,
      protocol: 'tls',
      serverName: '203.0.113.9',
    } as const;
    expect(nextHops.to(destination)).toEqual({ flow: open });
  });

  it('does not reuse a connection whose far end did not prove the dialed domain', () => {
    const destination = {
      host: '203.0.113.9',
      port: 5061,
      protocol: 'tls',
      serverName: 'pbx.example.com',
    } as const;
    expect(nextHops.to(destination)).toEqual({ destination, namedBy: 'application' });
  });

  it('does not reuse a connection to another port', () => {
    const destination = {
      host: '203.0.113.9',
      port: 5062,
      protocol: 'tls',
      serverName: '203.0.113.9',
    } as const;
    expect(nextHops.to(destination)).toEqual({ destination, namedBy: 'application' });
  });
});
