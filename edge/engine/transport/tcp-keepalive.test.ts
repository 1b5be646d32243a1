import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { authority, cleanups, HOST, Recorder, rawClient, target } from '../../../test/kit/edge/transport.ts';

/** Timer of the TCP connection between two ports, from the kernel's table: `02` is keepalive; time in 1/100 s. */
function timerOf(localPort: number, remotePort: number): { kind: string; due: number } {
  const end = (port: number) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, local = '', remote = '', , , timer = ''] = line.trim().split(/\s+/);
    if (!local.endsWith(end(localPort)) || !remote.endsWith(end(remotePort))) continue;
    const [kind = '', due = ''] = timer.split(':');
    return { kind, due: Number.parseInt(due, 16) };
  }
  return { kind: 'none', due: 0 };
}

test('every connection has TCP keepalive, pinned or not, so that a vanished peer is detected', async () => {
  const limits = { tcpKeepaliveMs: 5_000 };
  const bob = new Recorder({ limits, wss: { host: HOST, port: 0 } });
  const { tls, wss } = await bob.layer.listen();
  const alice = new Recorder({ limits });
  const outbound = await alice.layer.connect(target(tls.port));
  const client = rawClient(tls.port);
  await client.ready;
  const browser = new WebSocket(`wss://${HOST}:${wss?.port}/`, ['sip'], { ca: authority.cert });
  cleanups.push(() => browser.terminate());
  await new Promise((resolve) => browser.once('open', resolve));
  await bob.event('opened', 3);
  const inbound = bob.seen.flatMap(({ what, flow }) => (what === 'opened' && flow ? [flow] : []));
  expect(inbound.map(({ protocol }) => protocol).toSorted()).toEqual(['tls', 'tls', 'wss']);
  for (const flow of [outbound, ...inbound]) {
    flow.pin();
    // While octets are unacknowledged, another timer runs.
    await expect.poll(() => timerOf(flow.localPort, flow.remotePort).kind).toBe('02');
    expect(timerOf(flow.localPort, flow.remotePort).due).toBeLessThanOrEqual(500);
  }
});
