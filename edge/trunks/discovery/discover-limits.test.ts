/** Limits of a discovery, forbidden targets, and what it leaves behind. */
import { describe, expect, it } from 'vitest';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { discoveryScene, domain } from '../../../test/kit/edge/discover.ts';
import { closedPort, host, tcpServer, tlsServer, udpServer } from '../../../test/kit/edge/discovery.ts';
import { FakeDns, srv } from '../../../test/kit/edge/trunks.ts';

const scene = discoveryScene();
const { run } = scene;

/** Number of open sockets of each kind in this process. */
function open(): Map<string, number> {
  const sockets = process.getActiveResourcesInfo().filter((one) => /UDP|TCPSocket|TLS/.test(one));
  return new Map([...Map.groupBy(sockets, (one) => one)].map(([kind, found]) => [kind, found.length]));
}

describe('limits', () => {
  it('probes at most four addresses and four SRV targets', async () => {
    const addresses = Array.from({ length: 6 }, (_, index) => `127.0.0.${index + 1}`);
    const port = await closedPort();
    const records = addresses.map((_, index) => srv(`t${index}.example.com`, port, index));
    const dns = new FakeDns({
      a: {
        [domain]: addresses,
        ...Object.fromEntries(records.map(({ target }, index) => [target, [`127.0.1.${index + 1}`]])),
      },
      srv: { [`_sip._tcp.${domain}`]: records },
    });
    const { attempts } = await run({ port, transport: 'tcp' }, { dns });
    expect(attempts.map(({ address }) => address)).toEqual([
      ...['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'],
      ...['127.0.1.1', '127.0.1.2', '127.0.1.3', '127.0.1.4'],
    ]);
    for (const { error } of attempts) expect(error).toBe('refused');
  });

  it('probes everything in parallel: no attempt waits for the end of another', async () => {
    const open: (() => void)[] = [];
    // Nobody is answered until all have asked.
    const ports = await Promise.all(
      Array.from({ length: 4 }, () =>
        tcpServer((_request, _send, close) => {
          if (open.push(close) === 4) for (const end of open) end();
        }),
      ),
    );
    const dns = new FakeDns({
      srv: { [`_sip._tcp.${domain}`]: ports.map((port, index) => srv('a.example.com', port, index)) },
      a: { 'a.example.com': [host] },
    });
    const { attempts } = await run({}, { dns });
    expect(open).toHaveLength(4);
    expect(attempts.map(({ error }) => error)).not.toContain('timeout');
  });

  it('stops when its time is up, and returns what it has', async () => {
    const port = await tcpServer(() => {});
    const result = await run({ port, transport: 'tcp' }, { limits: { totalMs: 100 } });
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'DISCOVERY_TIMEOUT' },
      attempts: [{ error: 'timeout', port }],
      recommended: null,
    });
  });

  it('times out when DNS is too slow', async () => {
    const dns = new FakeDns({});
    dns.a = () => new Promise(() => {});
    const result = await run({}, { dns, limits: { totalMs: 50 } });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'DISCOVERY_TIMEOUT' }, attempts: [] });
  });

  it('can be aborted by its signal', async () => {
    const port = await tcpServer(() => {});
    const signal = AbortSignal.abort();
    expect(await run({ port, transport: 'tcp' }, { signal })).toMatchObject({ status: 'failed' });
  });
});

describe('a forbidden target', () => {
  it.each(['10.0.0.1', '127.0.0.1', 'localhost', '[::1]', '169.254.169.254'])(
    '%s is rejected',
    async (literal) => {
      const result = await run({ host: literal }, { allowed: parseNetworks([]) });
      expect(result).toMatchObject({ status: 'failed', error: { code: 'TARGET_NOT_ALLOWED' }, attempts: [] });
    },
  );

  it('a name that resolves to private addresses is rejected, also through SRV', async () => {
    const dns = new FakeDns({
      a: { [domain]: ['127.0.0.1'], 'a.example.com': ['10.0.0.1'] },
      srv: { [`_sips._tcp.${domain}`]: [srv('a.example.com', 5061)] },
    });
    const result = await run({}, { dns, allowed: parseNetworks([]) });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'TARGET_NOT_ALLOWED' }, attempts: [] });
  });

  it('is left out when other targets are allowed', async () => {
    const port = await closedPort();
    const dns = new FakeDns({ a: { [domain]: ['10.0.0.1', host] } });
    const { attempts, resolved_addresses } = await run({ port, transport: 'tcp' }, { dns });
    expect(resolved_addresses).toEqual([host]);
    expect(attempts).toHaveLength(1);
  });
});

it('leaves no socket', async () => {
  const silent = await Promise.all([
    udpServer(() => {}),
    tcpServer(() => {}),
    tlsServer(scene.certificate, () => {}),
  ]);
  const dns = new FakeDns({
    srv: {
      [`_sip._udp.${domain}`]: silent.slice(0, 1).map((port) => srv('a.example.com', port)),
      [`_sip._tcp.${domain}`]: silent.slice(1, 2).map((port) => srv('a.example.com', port)),
      [`_sips._tcp.${domain}`]: silent.slice(2).map((port) => srv('a.example.com', port)),
    },
    a: { 'a.example.com': [host] },
  });
  // Sockets of earlier tests may close meanwhile.
  const before = open();
  const { attempts } = await run({}, { dns, limits: { attemptMs: 200 } });
  expect(attempts.map(({ error }) => error)).toEqual(['timeout', 'timeout', 'timeout']);
  const more = () => [...open()].filter(([kind, count]) => count > (before.get(kind) ?? 0));
  await expect.poll(more).toEqual([]);
});
