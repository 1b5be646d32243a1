/** Requests that the operator's SIP proxy passes on, and those of strangers who claim to be one. */
import { beforeEach, describe, expect, it } from 'vitest';
import { config, invite, signalingScene } from '../../../test/kit/edge/fake-engine-signaling.ts';

const proxy = '198.51.100.1';
const carrier = '192.0.2.9';
const stranger = '203.0.113.5';
const scene = signalingScene();

beforeEach(() => scene.signaling.configure({ ...config, trusted_proxies: [proxy] }));

const named = (source: string) => ({ 'X-Trunkline-Source': source });

/** @returns the start line of the answer */
async function answerTo(message: Partial<Parameters<typeof scene.server.peer>[0]>): Promise<string> {
  scene.server.peer({ ...invite, ...message });
  return (await scene.server.next()).startLine;
}

describe('a call through a trusted proxy', () => {
  it('is judged by the address that the proxy names, which is in its record', async () => {
    expect(await answerTo({ address: proxy, headers: named(carrier) })).toBe('SIP/2.0 200 OK');
    expect(scene.last()).toMatchObject({ source_ip: carrier, trunk_id: 'trunk-1' });
  });

  it('is rejected like a direct one from an address that may not call the number', async () => {
    expect(await answerTo({ address: proxy, headers: named(stranger) })).toBe('SIP/2.0 403 Forbidden');
    expect(scene.last()).toMatchObject({ source_ip: stranger, termination: 'source_not_allowed' });
  });

  it.each<[string, Record<string, string>]>([
    ['no address', {}],
    ['a name instead of an address', named('carrier.example')],
    ['two addresses', named(`${carrier},${carrier}`)],
    ['a second header in other letters', { ...named(carrier), 'x-trunkline-source': carrier }],
  ])('is rejected when the proxy sends %s', async (_what, headers) => {
    expect(await answerTo({ address: proxy, headers })).toMatch(/^SIP\/2\.0 40[34]/);
  });

  it('is always answered: only the source behind the proxy has used up its attempts', async () => {
    for (let attempt = 0; attempt < 8; attempt++) {
      scene.server.peer({
        ...invite,
        callId: `try-${attempt}`,
        address: proxy,
        headers: named(stranger),
      });
      const answer = await scene.server.next();
      expect(answer.startLine).toBe('SIP/2.0 403 Forbidden');
      // The engine would block the connection's address, which is the proxy's.
      expect(answer.headers).not.toHaveProperty('x-trunkline-block');
    }
    expect(await answerTo({ callId: 'good', address: proxy, headers: named(carrier) })).toBe(
      'SIP/2.0 200 OK',
    );
    // The same stranger gets no answer when it connects itself.
    scene.server.peer({ ...invite, callId: 'direct', address: stranger });
    await scene.server.idle();
    expect(scene.refused.at(-1)).toBe('silenced');
  });

  it('leaves no record while the edge drains: the proxy sends it to another edge', async () => {
    scene.calls.setOutOfService(true);
    scene.server.peer({ ...invite, address: proxy, headers: named(carrier) });
    const answer = await scene.server.next();
    expect([answer.startLine, answer.headers['retry-after']]).toEqual([
      'SIP/2.0 503 Service Unavailable',
      '10',
    ]);
    expect(scene.records).toEqual([]);
  });
});

it('the header means nothing on a connection from anybody else', async () => {
  expect(await answerTo({ address: stranger, headers: named(carrier) })).toBe('SIP/2.0 403 Forbidden');
  expect(scene.last()).toMatchObject({ source_ip: stranger });
  expect(await answerTo({ callId: 'b', address: carrier, headers: named(stranger) })).toBe('SIP/2.0 200 OK');
  expect(scene.last()).toMatchObject({ source_ip: carrier });
});

it('a proxy that the operator has removed is a stranger again', async () => {
  scene.signaling.configure({ ...config, trusted_proxies: [] });
  expect(await answerTo({ address: proxy, headers: named(carrier) })).toBe('SIP/2.0 403 Forbidden');
  expect(scene.last()).toMatchObject({ source_ip: proxy });
});

it("a proxy's OPTIONS do not count as scanning, and say whether the edge takes calls", async () => {
  const options = { method: 'OPTIONS', address: proxy, body: '' };
  for (let ping = 0; ping < 40; ping++) {
    expect(await answerTo({ ...options, callId: `ping-${ping}` })).toBe('SIP/2.0 200 OK');
  }
  scene.calls.setOutOfService(true);
  expect(await answerTo({ ...options, callId: 'out' })).toBe('SIP/2.0 503 Service Unavailable');
  scene.calls.setOutOfService(false);
  expect(await answerTo({ ...options, callId: 'in' })).toBe('SIP/2.0 200 OK');
});

it('the engine reserves connections for proxies, under an owner of their own', () => {
  let known: Readonly<Record<string, readonly string[]>> = {};
  scene.signaling.watchSources((sources) => {
    known = sources;
  });
  expect(known.proxies).toEqual([proxy]);
});
