import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { connectionFailure } from '#shared/connection-faults.ts';
import { target } from '../../test/kit/edge/trunks.ts';
import type { Resolution } from './resolve.ts';
import { SipUriTargets } from './sip-uri-targets.ts';

const hunt = (resolution: Resolution, forbidden: string | null = null) =>
  new SipUriTargets({
    clock: new FakeClock(Date.UTC(2030, 0, 1)),
    host: 'pbx.example.net',
    port: null,
    resolve: async () => resolution,
    forbidden,
  });

describe('a call to a foreign host', () => {
  it('has no credentials, headers or configuration', async () => {
    const hop = await hunt({ ok: true, targets: [target('203.0.113.7', 'pbx.example.net')] }).next();
    expect(hop).toEqual({
      route: { trunkId: null, credentials: null, headers: [], codecs: [], transcode: false },
      endpoint: { host: 'pbx.example.net', port: 5061, priority: 0 },
      target: { ...target('203.0.113.7', 'pbx.example.net'), foreign: true },
    });
  });

  it('tries all addresses of the host until one rejects it', async () => {
    const foreign = hunt({
      ok: true,
      targets: [target('203.0.113.7'), target('203.0.113.8'), target('203.0.113.9')],
    });
    await foreign.next();
    expect(
      foreign.ended({ kind: 'no_connection', failure: connectionFailure('refused', 'refused') }),
    ).toEqual({ movesOn: true });
    await foreign.next();
    const busy = { kind: 'final', status: 486, phase: 'silent', credentialsSent: false } as const;
    expect(foreign.ended(busy)).toEqual({ movesOn: false });
    expect(await foreign.next()).toBeNull();
    expect(foreign.attempts).toMatchObject([{ host: '203.0.113.7', error: 'unreachable: refused' }]);
    expect(() => foreign.ended(busy)).toThrow(/not started/);
  });

  it('fails when the host has no address, and says why', async () => {
    const foreign = hunt({ ok: false, code: 'dns_failure', message: 'no such host' });
    expect(await foreign.next()).toBeNull();
    expect(foreign.attempts).toMatchObject([{ host: 'pbx.example.net', error: 'unreachable: no such host' }]);
    expect(foreign.unresolved).toBe('no such host');
    expect(foreign.forbidden).toBeNull();
  });

  it('is forbidden to a private address, given directly or found through DNS', async () => {
    expect(hunt({ ok: true, targets: [] }, '10.0.0.1 is a private address').forbidden).not.toBeNull();
    const resolved = hunt({
      ok: false,
      code: 'target_not_allowed',
      message: '10.0.0.1 is a private address',
    });
    expect(await resolved.next()).toBeNull();
    expect(resolved.forbidden).toBe('10.0.0.1 is a private address');
  });
});
