/**
 * Every change that a customer makes over HTTP writes an audit entry with its request id, or the table below explains
 * why not. Each change is actually made.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ForeignAgentAnswer } from '#shared/api/agent-testing/foreign-agents.ts';
import { TemplateList } from '#shared/api/agent-testing/templates.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { faultyGraph, missingEdge } from '../../test/kit/control/dental.ts';
import { callRecord, connectEdge, reportFrame } from '../../test/kit/control/edge-client.ts';
import { noiseFile } from '../../test/kit/control/noises.ts';
import {
  initiate,
  order,
  type PortTest,
  sign,
  startPortTest,
  upload,
} from '../../test/kit/control/porting.ts';
import { recordingRow } from '../../test/kit/control/recordings.ts';
import { type ServedRoute, servedRoutes } from '../../test/kit/control/routes.ts';
import { signIn } from '../../test/kit/control/sessions.ts';
import { bookingGraph } from '../../test/kit/control/test-runs.ts';
import { TornadoClient } from '../../test/kit/control/tornado.ts';
import { storeEndedCall } from '../../test/kit/control/watched-calls.ts';
import { makePersonaWidget, makeThread } from '../../test/kit/control/widgets.ts';
import { endedDelivery } from '../../test/kit/db/delivery.ts';
import type { Answer } from '../../test/kit/http/answer.ts';
import { toJson } from '../db/index.ts';
import { codeHash } from '../testing/foreign/ownership.ts';

/** Requests that change no settings and delete nothing. */
const withoutEntry: Readonly<Record<string, string>> = {
  'POST /v2/tools/{id}/run': 'the log of the tool has it',
  'POST /v1/calls': 'the call log has it',
  'POST /v1/calls/{call_id}/stop': 'the call log has it',
  'POST /v1/calls/{call_id}/recording/pause': 'the call log has it',
  'POST /v1/calls/{call_id}/recording/resume': 'the call log has it',
  'POST /v1/calls/{call_id}/hold': 'the call log has it',
  'POST /v1/calls/{call_id}/resume': 'the call log has it',
  'POST /v1/calls/{call_id}/park': 'the call log has it',
  'POST /v1/calls/{call_id}/retrieve': 'the call log has it',
  'POST /v1/calls/active/transfer': 'the call log has it',
  'POST /v1/conferences/{conference_id}/parties/{call_id}/mute': 'the call log has it',
  'POST /v1/conferences/{conference_id}/parties/{call_id}/unmute': 'the call log has it',
  'DELETE /v1/conferences/{conference_id}/parties/{call_id}': 'the call log has it',
  'POST /v1/sip/discover': 'asks the other side',
  'POST /v1/sip/test-call': 'a call; its result is kept for 24 hours',
  'POST /v1/sip/register-now': 'tries what is configured',
  'POST /v1/sip/parse-destination': 'reads',
  'POST /v1/org/recording-storage/test': 'tries, and stores nothing',
  'POST /v1/admin/recording-storage/test': 'tries, and stores nothing',
  'POST /v1/sip/alerts/test': 'sends',
  'POST /v1/pathway/chat/create': 'a conversation',
  'POST /v1/pathway/chat/{id}': 'a conversation',
  'POST /v1/widget/{id}/session': 'a conversation',
  'POST /v1/widget/{id}/threads': 'a conversation',
  'POST /v1/widget/{id}/threads/{thread_id}/messages': 'a conversation',
  'POST /v1/widget/{id}/threads/{thread_id}/handoff': 'a conversation',
  'POST /v1/widget/{id}/threads/{thread_id}/end': 'a conversation',
  'POST /v1/agent-testing/scenarios/{id}/run': 'a run, which is listed',
  'POST /v1/agent-testing/scenarios/generate-from-call': 'answers with a draft that is not kept',
  'POST /v1/agent-testing/batch-run': 'a batch, which is listed',
  'POST /v1/agent-testing/runs/{id}/cancel': 'the run says CANCELLED',
  'POST /v1/agent-testing/runs/{id}/analyze': 'adds to the run',
  'POST /v1/agent-testing/judges/calibrate': 'answers with figures that are not kept',
  'POST /v1/agent-testing/batches/{id}/cancel': 'its runs say CANCELLED',
  'POST /v1/agent-testing/simulation-sets/{id}/cancel': 'its runs say CANCELLED',
};

let test: PortTest;
let client: TornadoClient;
let routes: readonly ServedRoute[];
/** Routes called with a change here. */
const asked = new Set<string>();

beforeAll(async () => {
  test = await startPortTest({ QUOTAS: 'numbers=100' });
  client = new TornadoClient(test);
  routes = (await servedRoutes(test)).filter(({ method }) => method !== 'GET');
});
afterAll(() => test.close());

const base = '/v1/agent-testing';
let named = 0;
const name = () => `Change ${++named}`;
const number = () => `+1212555${String(2000 + ++named)}`;

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The route with the most fixed segments that matches a request. */
function routeOf(method: Method, url: string): string {
  const fits = routes.filter(({ name: one }) => {
    const [verb, path = ''] = one.split(' ');
    const form = new RegExp(`^${path.replaceAll(/\{[^}]*\}/g, '[^/]+')}$`);
    return verb === method && form.test(url);
  });
  const [found] = fits.toSorted((a, b) => a.name.split('{').length - b.name.split('{').length);
  if (!found) throw new Error(`${method} ${url} is not served`);
  return found.name;
}

/** How many audit entries a request wrote. */
async function entriesOf(answer: Answer): Promise<number> {
  const { db } = test.control.services.database;
  const rows = await db
    .selectFrom('audit_entries')
    .select('id')
    .where('request_id', '=', String(answer.headers['x-request-id']))
    .execute();
  return rows.length;
}

async function judge(route: string, answer: Answer): Promise<Answer> {
  asked.add(route);
  expect([route, answer.status, answer.status < 300 ? '' : answer.text]).toEqual([
    route,
    answer.status < 300 ? answer.status : 200,
    '',
  ]);
  expect([route, await entriesOf(answer)]).toEqual([route, expect.toSatisfy((count: number) => count > 0)]);
  return answer;
}

/** A change that must succeed and write an audit entry. */
async function change(method: Method, url: string, body?: object, key = test.key): Promise<Answer> {
  const answer = await test.call(method, url, { key, ...(body && { body }) });
  return judge(routeOf(method, url), answer);
}

/** A request that needs no entry. */
async function ask(method: Method, url: string, body: object = {}): Promise<Answer> {
  const answer = await test.call(method, url, { body });
  expect([url, answer.status]).toEqual([url, 200]);
  return answer;
}

describe('the audit log has an entry for each change of', () => {
  it('recordings', async () => {
    const { db } = test.control.services.database;
    await db.insertInto('recordings').values(recordingRow(test.orgId, 'call-1')).execute();
    await change('DELETE', '/v1/calls/call-1/recording');
    const storage = {
      url: 'https://s3.example.com',
      bucket: 'calls',
      access_key_id: 'id',
      secret_access_key: 'secret',
    };
    await change('PUT', '/v1/org/recording-storage', storage);
    await change('DELETE', '/v1/org/recording-storage');
    await change('PUT', '/v1/admin/recording-storage', storage, test.operatorKey);
    await change('DELETE', '/v1/admin/recording-storage', undefined, test.operatorKey);
  });

  it('pathways and their chats', async () => {
    const id = String((await change('POST', '/v1/pathway/create', { name: name() })).body.pathway_id);
    const graph = { nodes: bookingGraph.nodes, edges: bookingGraph.edges };
    await change('POST', `/v1/pathway/${id}`, graph);
    const made = await change('POST', `/v1/pathway/${id}/version`, { name: 'v', ...graph });
    const version = Number(made.body.data?.version_number);
    await change('POST', `/v1/pathway/${id}/version/${version}`, { name: 'w', ...graph });
    await change('POST', `/v1/pathway/${id}/publish`, { version_id: version, environment: 'staging' });
    const second = await change('POST', `/v1/pathway/${id}/version`, { name: 'x', ...graph });
    await change('DELETE', `/v1/pathway/${id}/version/${second.body.data?.version_number}`);
    const chat = await ask('POST', '/v1/pathway/chat/create', { pathway_id: id });
    await change('DELETE', `/v1/pathway/chat/${chat.body.data?.chat_id}`);
    await change('DELETE', `/v1/pathway/${id}`);
  });

  it('tools and integrations', async () => {
    const body = { code: '1' };
    const tool = {
      name: name(),
      description: 'd',
      integration: 'custom-code',
      action: 'run_javascript',
      body,
    };
    const id = String((await change('POST', '/v2/tools', tool)).body.data?.id);
    await change('POST', `/v2/tools/${id}`, { description: 'new' });
    await change('DELETE', `/v2/tools/${id}`);
    const url = '/v1/integrations/rest_api/resources';
    const { body: made } = await change('POST', url, { name: name(), credentials: {} });
    await change('PATCH', `${url}/${made.data?.resource?.id}`, { name: name() });
    await change('DELETE', `${url}/${made.data?.resource?.id}`);
  });

  it('widgets', async () => {
    const pathway_id = await client.pathway(bookingGraph);
    const { body } = await change('POST', '/v1/widget', { name: name(), pathway_id });
    await change('PATCH', `/v1/widget/${body.data?.widget?.id}`, { name: name() });
    await change('DELETE', `/v1/widget/${body.data?.widget?.id}`);
  });

  it('numbers, personas and the organization', async () => {
    const one = number();
    await change('POST', '/v1/sip/attach', { phone_numbers: [one], directions: ['inbound'] });
    const options = { allowed_ips: ['192.0.2.1'] };
    await change('POST', '/v1/sip/update', { phone_number: one, updates: { type: 'inbound', options } });
    const codec_config = { codecs: ['PCMU'] };
    await change('PATCH', '/v1/sip/config', { phone_number: one, direction: 'inbound', codec_config });
    await change('POST', `/v1/inbound/${one}`, { prompt: 'Be kind.' });
    const id = String((await change('POST', '/v1/personas', { name: name() })).body.data?.id);
    await change('PATCH', `/v1/personas/${id}`, { personality_prompt: 'new' });
    await change('POST', `/v1/personas/${id}/versions/promote`, {});
    await change('POST', `/v1/personas/${id}/inbound/attach`, { inbound_numbers: [one] });
    await change('POST', `/v1/personas/${id}/inbound/detach`, { inbound_numbers: [one] });
    await change('DELETE', `/v1/personas/${id}`);
    await change('POST', '/v1/sip/detach', { phone_number: one, directions: ['inbound'] });
    await change('PATCH', '/v1/org/settings', { alert_emails: ['a@example.com'] });
    await change('POST', '/v1/org/webhook-secret', {});
  });

  it('webhook deliveries that are sent again', async () => {
    const { db } = test.control.services.database;
    await db.insertInto('webhook_deliveries').values(endedDelivery(test.orgId)).execute();
    await change('POST', '/v1/org/webhook-deliveries/evt_ended/redeliver');
  });

  it('keys and sessions', async () => {
    const { body } = await change('POST', '/v1/org/keys', { name: name(), role: 'read' });
    const url = `/v1/org/keys/${body.data?.key?.id}`;
    await change('POST', `${url}/rotate`, {});
    await change('DELETE', url);
    const first = await change('POST', '/v1/session');
    await change('DELETE', `/v1/sessions/${first.body.data?.session?.id}`);
    await change('POST', '/v1/session', undefined, test.operatorKey);
    const browser = await signIn(test, test.key);
    await judge('DELETE /v1/session', await browser.call('DELETE', '/v1/session'));
  });

  it('supervisors', async () => {
    const sip = { host: 'edge.example.com', port: 5061, wss_port: 5062 };
    const edge = await connectEdge(test, { sip, outbox_id: 'of supervisors' });
    const { revision } = edgeProtocol;
    edge.send({ type: 'status', metrics: { trunkline_edge_protocol_revision: revision } });
    const { edges } = test.control.services;
    await expect.poll(() => edges.all[0]?.metrics.trunkline_edge_protocol_revision).toBe(revision);
    const live = { ended_at: null, status: 'in-progress', termination: null, hangup_by: null } as const;
    const call = callRecord(test.orgId, { ...live, id: '00000000-0000-4000-8000-0000000000e1' });
    edge.send(reportFrame(1, [{ type: 'call', call }]));
    await edge.next('ack');
    const url = `/v1/calls/${call.id}`;
    const { body } = await change('POST', `${url}/supervisors`, {});
    const one = `${url}/supervisors/${body.data?.supervisor?.id}`;
    for (const [method, path, order] of [
      ['PATCH', one, { mode: 'barge' }],
      ['POST', `${url}/whisper`, { text: 'Be brief.' }],
    ] as const) {
      const changed = change(method, path, order);
      const { id } = await edge.next('command');
      edge.send({ type: 'result', id, ok: true });
      await changed;
    }
    await change('DELETE', one);
    await edge.kill();
  });

  it('phone sessions', async () => {
    const one = number();
    await ask('POST', '/v1/sip/attach', { phone_numbers: [one], directions: ['inbound'] });
    const sip = { host: 'edge.example.com', port: 5061, wss_port: 5062 };
    const edge = await connectEdge(test, { sip });
    const { body } = await change('POST', '/v1/phone-sessions', { phone_number: one, caller: 'Ada' });
    await change('DELETE', `/v1/phone-sessions/${body.data?.phone_session?.id}`);
    const { revision } = edgeProtocol;
    const metrics = { trunkline_edge_engine_up: 1, trunkline_edge_protocol_revision: revision };
    edge.send({ type: 'status', metrics });
    const { edges } = test.control.services;
    await expect.poll(() => edges.all[0]?.metrics.trunkline_edge_protocol_revision).toBe(revision);
    const widget = await makePersonaWidget(test, { voice: true });
    const called = change('POST', `${await makeThread(test, widget)}/call`);
    const { id } = await edge.next('command');
    edge.send({ type: 'result', id, ok: true });
    await called;
    await edge.close();
  });

  it('ports', async () => {
    const url = '/v1/sip/port/document';
    const uploaded = await judge(`POST ${url}`, await upload(test, Buffer.from('%PDF-1.4\n%%EOF\n')));
    await change('DELETE', `${url}/${uploaded.body.data?.document_sid}`);
    const { body } = await change('POST', '/v1/sip/port/initiate', order([number()]));
    await change('DELETE', `/v1/sip/port/${body.data?.port_request_id}`);
    const { id, path } = await initiate(test, order([number()]));
    await judge('POST /v1/sip/port/sign/{token}', await sign(test, path));
    await change('POST', `/v1/admin/ports/${id}/status`, { status: 'in_progress' }, test.operatorKey);
  });

  it('tests', async () => {
    const pathway_id = await client.pathway(bookingGraph);
    const { body } = await change('POST', `${base}/scenarios`, { name: name(), pathway_id });
    await change('PUT', `${base}/scenarios/${body.id}`, { description: 'new' });
    await change('DELETE', `${base}/scenarios/${body.id}`);
    const [template] = (await test.call('GET', `${base}/templates`)).read(TemplateList).templates;
    await change('POST', `${base}/templates/${template?.id}/clone`, { pathway_id, name: name() });

    const agent = { name: name(), url: 'https://chat.example.com/', format: 'openai', model: 'm' };
    const { id: agentId } = (await change('POST', `${base}/agents`, agent)).body;
    await change('PUT', `${base}/agents/${agentId}`, { ...agent, model: 'n' });
    await change('DELETE', `${base}/agents/${agentId}`);
    await ownership();

    const scenario_id = await client.scenario({ pathway_id, max_turns: 2 });
    const run = await ask('POST', `${base}/scenarios/${scenario_id}/run`);
    await deleteEnded(`${base}/runs/${run.body.run_id}`);
    const scenario_ids = [scenario_id];
    const batch = await ask('POST', `${base}/batch-run`, { scenario_ids });
    await deleteEnded(`${base}/batches/${batch.body.batch_id}`);
    const set = { scenario_ids, simulations_per_scenario: 1 };
    const started = await change('POST', `${base}/simulation-sets`, set);
    await deleteEnded(`${base}/simulation-sets/${started.body.simulation_set_id}`);
    await change('POST', `${base}/matrices`, { scenario_id, repeats: 1 });
    const assertions = [{ type: 'NODE_REACHED', config: { node_id: 'name' } }];
    const watch = await change('POST', `${base}/watches`, { name: name(), pathway_id, assertions });
    await change('PUT', `${base}/watches/${watch.body.id}`, { enabled: false });
    await watchedCall(String(watch.body.id), pathway_id);
    await change('DELETE', `${base}/watches/${watch.body.id}`);
    const noise = await change('POST', `${base}/noises`, { name: name(), wav: noiseFile() });
    await change('DELETE', `${base}/noises/${noise.body.id}`);
    const load = { scenario_ids, concurrency: 1, transport: 'text' };
    const { load_id } = (await change('POST', `${base}/loads`, load)).body;
    await change('POST', `${base}/loads/${load_id}/cancel`, {});
    await deleteEnded(`${base}/loads/${load_id}`);
    const session = await change('POST', `${base}/tornado/start`, { pathway_id, scenario_ids });
    const url = `${base}/tornado/${session.body.session_id}`;
    await change('POST', `${url}/cancel`, {});
    await deleteEnded(url);
    const faulty = await client.pathway(faultyGraph);
    await client.scenario({ pathway_id: faulty, ...missingEdge });
    const { fixes, session_id } = await client.endedSession(await client.tornado(faulty));
    const fix_ids = fixes.map(({ id }) => id);
    await change('POST', `${base}/tornado/${session_id}/accept`, { fix_ids });
  });

  async function watchedCall(watch_id: string, pathway_id: string): Promise<void> {
    const ended_at = '2030-01-01T00:00:00.000Z';
    await storeEndedCall(test, { id: 'watched', pathway_id, ended_at, said: [['user', 'An appointment']] });
    const judged = { status: 'FAILED' as const, conversation: 'c', reasoning: '', results: toJson([]) };
    const row = { watch_id, call_id: 'watched', version: 0, ...judged, ended_at, judged_at: ended_at };
    await test.control.services.database.db.insertInto('test_watched_calls').values(row).execute();
    await change('POST', `${base}/watches/${watch_id}/calls/watched/scenario`, {});
  }

  async function ownership(): Promise<void> {
    const from = number();
    const directions = [{ type: 'outbound', sip_endpoint: 'trunk.example.com' }];
    await ask('POST', '/v1/sip/attach', { phone_number: from, directions });
    const edge = await connectEdge(test);
    edge.send({ type: 'status', metrics: { trunkline_edge_protocol_revision: edgeProtocol.testsOthers } });
    const { database, edges } = test.control.services;
    await expect
      .poll(() => edges.all[0]?.metrics.trunkline_edge_protocol_revision)
      .toBe(edgeProtocol.testsOthers);
    const desk = { name: name(), format: 'call', from, to: '+14155550199' };
    const { id } = (await test.call('POST', `${base}/agents`, { body: desk })).read(ForeignAgentAnswer);
    await change('POST', `${base}/agents/${id}/ownership`, {});
    const proof_hash = codeHash(id, '471102');
    await database.db.updateTable('test_agents').set({ proof_hash }).where('id', '=', id).execute();
    await change('POST', `${base}/agents/${id}/ownership/confirm`, { code: '471102' });
    await change('POST', `/v1/admin/test-agents/${id}/allow`, {}, test.operatorKey);
    await edge.kill();
    await expect.poll(() => edges.count).toBe(0);
  }

  it('edges and the proxies in front of them', async () => {
    const edge = await connectEdge(test, { edge_id: 'edge' });
    await change('PATCH', '/v1/admin/edges/edge', { draining: true }, test.operatorKey);
    await change('PUT', '/v1/admin/proxies', { addresses: ['192.0.2.5'] }, test.operatorKey);
    await edge.kill();
    const { edges } = test.control.services;
    await expect.poll(() => edges.has('edge')).toBe(false);
    // It counts as gone for good half a minute later.
    test.clock.advance(31_000);
    await change('DELETE', '/v1/admin/edges/edge', undefined, test.operatorKey);
  });

  it('nothing else: every other route explains here why it writes none', () => {
    const names = routes.map((route) => route.name);
    expect(names.filter((one) => !asked.has(one) && !(one in withoutEntry))).toEqual([]);
    expect(Object.keys(withoutEntry).filter((one) => !names.includes(one) || asked.has(one))).toEqual([]);
  });
});

/** Cancels it, and deletes it once it has ended. */
async function deleteEnded(url: string): Promise<void> {
  await test.call('POST', `${url}/cancel`, { body: {} });
  let last: Answer | undefined;
  const tried = async () => {
    last = await test.call('DELETE', url);
    return last.codes;
  };
  await expect.poll(tried).toEqual([]);
  if (last) await judge(routeOf('DELETE', url), last);
}
