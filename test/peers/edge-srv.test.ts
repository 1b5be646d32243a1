/** Two edges behind DNS SRV records without any proxy: a real phone, baresip, finds the one that takes its call. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { EdgeOne, type EdgeView } from '#shared/api/edges.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { Api } from '../kit/programs/api.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { crash, edgeId, FurtherEdge } from '../kit/programs/further-edge.ts';
import { TestSystem } from '../kit/programs/harness.ts';
import { Baresip } from './baresip.ts';
import { Dnsmasq } from './dnsmasq.ts';

const name = 'sip.fleet.test';

let system: TestSystem;
let second: FurtherEdge;
let dns: Dnsmasq;
let operator: Api;
let phone: Baresip | null = null;

beforeAll(async () => {
  system = await TestSystem.start();
  second = await FurtherEdge.start(system);
  operator = new Api(system.api.url, system.bootstrap.operator_key);
  await edgeWhere(await edgeId(second), ({ takes_calls }) => takes_calls === true);
  const record = (host: string, port: number, priority: number) =>
    `--srv-host=_sips._tcp.${name},${host}.fleet.test,${port},${priority},50`;
  dns = await Dnsmasq.start([
    '--host-record=edge-1.fleet.test,127.0.0.1',
    '--host-record=edge-2.fleet.test,127.0.0.1',
    record('edge-1', system.sipPort, 10),
    record('edge-2', second.sipPort, 20),
  ]);
});

afterEach(async () => {
  await phone?.close();
  phone = null;
});

afterAll(() =>
  releaseAll(
    () => dns?.close(),
    () => second?.stop(),
    () => system?.stop(),
  ),
);

function edgeWhere(id: string, isWished: (edge: EdgeView) => boolean): Promise<EdgeView> {
  return eventually(`edge ${id} to be as wished`, async () => {
    const answer = await operator.request('GET', `/v1/admin/edges/${id}`);
    if (answer.status !== 200) return null;
    const { edge } = answer.read(EdgeOne).data;
    return isWished(edge) ? edge : null;
  });
}

/** Dials by name. @returns the SIP port of the edge that answered */
async function answeredBy(): Promise<number> {
  const known = new Set((await system.api.calls()).map(({ id }) => id));
  phone = await Baresip.start({ nameServer: dns.server });
  await phone.command('dial', `sip:${system.tone.number}@${name}`);
  await phone.event('CALL_ESTABLISHED');
  const { id } = await eventually('the call in the log', async () =>
    (await system.api.calls()).find((call) => !known.has(call.id) && call.answered_at !== null),
  );
  const trace = await eventually('its trace', async () => {
    const messages = await system.api.trace(id).catch(() => []);
    return messages.length > 0 ? messages : null;
  });
  await phone.command('hangup');
  await system.api.endedCall(id);
  await phone.close();
  phone = null;
  return Number(trace[0]?.local.split(':').at(-1));
}

it('the first edge takes the call; the next one while it drains, and after it was killed', async () => {
  const first = await edgeId(system);
  expect(await answeredBy()).toBe(system.sipPort);
  await operator.ok('PATCH', `/v1/admin/edges/${first}`, { draining: true });
  await edgeWhere(first, ({ takes_calls }) => takes_calls === false);
  expect(await answeredBy()).toBe(second.sipPort);
  await operator.ok('PATCH', `/v1/admin/edges/${first}`, { draining: false });
  await edgeWhere(first, ({ takes_calls }) => takes_calls === true);
  expect(await answeredBy()).toBe(system.sipPort);
  await crash({ program: system.edge });
  expect(await answeredBy()).toBe(second.sipPort);
});
