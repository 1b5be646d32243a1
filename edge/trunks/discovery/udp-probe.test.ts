import { expect, it } from 'vitest';
import { probeUdp } from './udp-probe.ts';

it('reports an address to which no socket can connect, and closes cleanly', async () => {
  const thrown: unknown[] = [];
  const hear = (error: unknown) => thrown.push(error);
  process.on('uncaughtExceptionMonitor', hear);
  try {
    // Without SO_BROADCAST the kernel rejects this address, or has no route to it.
    const candidate = {
      address: '255.255.255.255',
      port: 5060,
      transport: 'udp',
      host: 'pbx.example.com',
    } as const;
    const limits = { attemptMs: 10_000, maxBytes: 65_536 };
    const result = await probeUdp(candidate, limits, new AbortController().signal);
    expect(result).toMatchObject({ error: 'unreachable', response: null });
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(thrown).toEqual([]);
  } finally {
    process.off('uncaughtExceptionMonitor', hear);
  }
});
