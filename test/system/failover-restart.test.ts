/** A call detects dead endpoints of a trunk, at the cost of one connect time-out, and their state survives a crash. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import type { CallLogEntry } from '#shared/api/sip-calls.ts';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import {
  attachTrunk,
  byePathway,
  health,
  setFailover,
  startTrunkSystem,
  type TrunkHealth,
  trunkPair,
} from '../kit/programs/trunk-system.ts';

const number = '+14155550126';
/** Longer than the default of 4 s: an attempt that took longer than that used the setting, on however slow a machine. */
const connectTimeoutMs = 5_000;
let system: TestSystem;
let pair: TestKeyPair;
let primary: TestTrunk | null;
let secondary: TestTrunk;
let hole: BlackHole | null = null;
let pathway: string;

beforeAll(async () => {
  // Only the first probe of each endpoint runs during a test: dead endpoints are detected by calls.
  system = await startTrunkSystem(
    { TRUNK_PROBE_INTERVAL_S: '3600' },
    { edge: { limits: { engine: { connectTimeoutMs } } } },
  );
  pair = await trunkPair(system);
  primary = await TestTrunk.listen(pair);
  secondary = await TestTrunk.listen(pair);
  pathway = await byePathway(system);
  await attachTrunk(system, number, primary.port);
  const endpoint = { host: '127.0.0.1', port: secondary.port, priority: 1 };
  await setFailover(system, number, { enabled: true, endpoints: [endpoint], failback: 'manual' });
  await health(system, number, ({ endpoints }) => endpoints.every(({ status }) => status === 'healthy'));
});

afterAll(() =>
  releaseAll(
    () => system?.stop(),
    () => hole?.close(),
    () => primary?.close(),
    () => secondary?.close(),
  ),
);

/** Accepts TCP connections and stays silent. */
class BlackHole {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
    });
  }

  static async listen(port: number): Promise<BlackHole> {
    const server = createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new BlackHole(server);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

const isActive =
  (priority: number) =>
  ({ endpoints }: TrunkHealth): boolean =>
    endpoints.length === 2 && endpoints.every((one) => one.active === (one.priority === priority));

async function place(to: string): Promise<string> {
  const order = { phone_number: to, from: number, pathway_id: pathway };
  return (await system.api.read(CallQueued, 'POST', '/v1/calls', order)).call_id;
}

/** Calls, gets busy from `trunk`, and returns the log entry. */
async function busyAt(trunk: TestTrunk, to: string): Promise<CallLogEntry> {
  const id = await place(to);
  (await trunk.call()).answer('486 Busy Here');
  const ended = await system.api.endedCall(id);
  expect(ended).toMatchObject({ outcome: 'busy', sip_code: 486 });
  return ended;
}

test('an endpoint that accepts TCP but no TLS handshake costs one connect time-out, once', async () => {
  const port = primary?.port ?? 0;
  await primary?.close();
  primary = null;
  hole = await BlackHole.listen(port);
  const first = await busyAt(secondary, '+14155550127');
  expect(first.failover_attempts).toMatchObject([
    { port, priority: 0, sip_code: null, error: expect.stringMatching(/^unreachable: /) },
  ]);
  expect(first.failover_attempts[0]?.duration_ms).toBeGreaterThan(connectTimeoutMs * 0.9);

  const next = await busyAt(secondary, '+14155550128');
  expect(next.failover_attempts).toMatchObject([
    { port, error: 'unreachable: failed the last probe or call' },
  ]);
});

/** On an engine where the first test does not run, the primary is still up. */
async function withoutPrimary(): Promise<void> {
  if (!primary) return;
  await primary.close();
  primary = null;
  await busyAt(secondary, '+14155550130');
}

test('a killed edge closes the call that was up, and keeps the active endpoint and the health after its restart', async () => {
  await withoutPrimary();
  await health(system, number, isActive(1));
  const media = await SrtpPeer.open();
  try {
    const id = await place('+14155550134');
    const call = await secondary.call();
    media.connect(call.invite.body);
    call.answer('200 OK', media.sdp());
    await call.expect('ACK');
    await system.api.loggedCall(id, ({ answered_at }) => answered_at !== null);
    await system.crashEdge();
    await system.startEdge();
    expect(await system.api.endedCall(id)).toMatchObject({ hangup_by: 'error', outcome: 'completed' });
  } finally {
    media.close();
  }
  const { failover_attempts: attempts } = await busyAt(secondary, '+14155550129');
  expect(attempts).toMatchObject([{ error: 'unreachable: failed the last probe or call' }]);
  await health(system, number, isActive(1));
});

test('only a manual failback returns to the primary, even if it responds again after the edge was killed once more', async () => {
  // Control has what the probe of the edge that runs found: it shows something else only when the next edge has probed.
  const isDown = (status: TrunkHealth) =>
    isActive(1)(status) && status.endpoints[0]?.status === 'unreachable';
  const port = (await health(system, number, isDown)).endpoints[0]?.port ?? 0;
  await hole?.close();
  hole = null;
  await system.crashEdge();
  primary = await TestTrunk.listen(pair, port);
  await system.startEdge();
  await health(
    system,
    number,
    (status) => isActive(1)(status) && status.endpoints.every(({ status }) => status === 'healthy'),
  );
  expect((await busyAt(secondary, '+14155550132')).failover_attempts).toEqual([]);
  expect(primary.waiting).toBe(0);

  await setFailover(system, number, { failback_now: true });
  expect((await busyAt(primary, '+14155550133')).failover_attempts).toEqual([]);
});
