/** Data of a call: mapped headers in both directions on the wire, and the webhook at its end. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CallQueued } from '#shared/api/calls.ts';
import { WebhookSecret } from '#shared/api/organization.ts';
import { createAuthority } from '../kit/fakes/certificates.ts';
import { pickUp } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { attachDirections, health, startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';
import { serveScenario } from '../sipp/serve.ts';

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const number = '+14155550175';
const authority = createAuthority();
const hex = (text: string) => Buffer.from(text, 'utf8').toString('hex');

let folder: string;
let system: TestSystem;
let hooks: Server;
let hooksUrl: string;
let secret: string;
let pathway: string;
const deliveries: Delivery[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-webhook-'));
  await writeFile(join(folder, 'ca.pem'), authority.cert);
  hooks = createServer(authority.issue({}), (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      deliveries.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
      response.writeHead(204).end();
    });
  });
  hooks.listen(0, '127.0.0.1');
  await once(hooks, 'listening');
  hooksUrl = `https://127.0.0.1:${(hooks.address() as AddressInfo).port}/calls`;
  system = await startTrunkSystem({
    TRUNK_PROBE_INTERVAL_S: '3600',
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
  });
  const answer = await system.api.read(WebhookSecret, 'POST', '/v1/org/webhook-secret');
  ({ secret } = answer.data);
  const say = { name: 'Bye', text: 'Thank you {{crm}}, order {{external_id}}.', isStart: true };
  pathway = await system.api.pathway('bye', [{ id: 'bye', type: 'End Call', data: say }], []);
});

afterAll(async () => {
  await system?.stop();
  hooks?.closeAllConnections();
  hooks?.close();
  await rm(folder, { recursive: true });
});

const mapped = (key: string, value: string) => ({ type: 'custom', key, value });
const constant = (key: string, value: string) => ({ ...mapped(key, value), passthrough: true });
const userToUser = (target: string, more: Record<string, string>) => ({
  type: 'uui',
  target,
  encoding: 'hex',
  ...more,
});
const numbered = (from: number) =>
  Array.from({ length: 15 - from }, (_, index) => constant(`X-C${from + index}`, `c${from + index}`));

test('fifteen mapped headers are in the INVITE of an outbound call', async () => {
  const port = await freeTcpPort();
  const headers = [
    ...[mapped('crm', 'X-Crm-Id'), mapped('tries', 'X-Tries'), mapped('who', 'X-Who')],
    ...[mapped('to', 'X-Dialled'), mapped('from', 'X-Caller'), constant('X-Site', 'north\r\n wing')],
    constant('User-Agent', 'Trunkline test'),
    userToUser('ticket', { content: 'ticket', purpose: 'crm' }),
    userToUser('word', { content: 'ticket2' }),
    ...numbered(9),
  ];
  expect(headers).toHaveLength(15);
  const direction = {
    type: 'outbound',
    sip_endpoint: `127.0.0.1:${port}`,
    headers: { direction: 'outbound', headers },
  };
  await attachDirections(system, number, [direction]);
  // SIPp would handle a probe as its call, so it starts after the only probe.
  await health(system, number, ({ status }) => status === 'unreachable');
  const trunk = await serveScenario('uas-trunk-mapped-headers-expect-each', port, await trunkPair(system));
  try {
    const order = {
      phone_number: '+14155550174',
      from: number,
      pathway_id: pathway,
      request_data: { crm: '17', tries: 3, who: { name: 'Ada' }, ticket: 'a1 ü' },
    };
    const { call_id } = await system.api.read(CallQueued, 'POST', '/v1/calls', order);
    expect(await system.api.endedCall(call_id)).toMatchObject({ outcome: 'busy', sip_code: 486 });
    const { passed, report } = await trunk.ended();
    expect(passed, report).toBe(true);
  } finally {
    await trunk.close();
  }
});

test('headers of an INVITE become variables of the agent and of the API', async () => {
  const headers = [
    ...[mapped('X-Crm-Id', 'crm'), mapped('X-Order', 'external_id'), constant('channel', 'sip')],
    ...[
      userToUser('ticket', { purpose: 'crm' }),
      mapped('X-Call', 'call_id'),
      mapped('X-Missing', 'missing'),
    ],
    ...Array.from({ length: 9 }, (_, index) => mapped(`X-H${index}`, `h${index}`)),
  ];
  expect(headers).toHaveLength(15);
  await attachDirections(system, number, [
    {
      type: 'inbound',
      options: { allowed_ips: ['127.0.0.1'] },
      headers: { direction: 'inbound', headers },
    },
  ]);
  await system.api.answerWith(number, { pathway_id: pathway, metadata: { team: 'blue' }, webhook: hooksUrl });
  await system.api.applied(number);
  const caller = await pickUp(system);
  try {
    const response = await caller.phone.invite(number, caller.media.sdp(), [
      'X-Crm-Id: 17',
      'X-Order: A-4711',
      `User-to-User: ${hex('other')};purpose=isdn-uui, ${hex('Zürich 7')};encoding=hex;purpose=crm`,
      'X-Call: somebody else',
      ...Array.from({ length: 9 }, (_, index) => `X-H${index}: v${index}`),
      'X-Free: as it is',
      'P-Asserted-Identity: <sip:+14155550100@pbx.example.com>',
      'Diversion: <sip:+14155550101@pbx.example.com>;reason=no-answer',
    ]);
    expect(response.status).toBe(200);
    caller.media.connect(response.body);
    caller.phone.ack(response);
    await caller.phone.expect('BYE');
  } finally {
    await caller.close();
  }
  const { id } = await system.api.endedCall(caller.callId);
  const detail = await system.api.detail(id);
  expect(detail.variables).toMatchObject({
    crm: '17',
    external_id: 'A-4711',
    channel: 'sip',
    ticket: 'Zürich 7',
    ...Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`h${index}`, `v${index}`])),
    'sip_header_x-free': 'as it is',
    'sip_header_x-original-pai': '<sip:+14155550100@pbx.example.com>',
    'sip_header_x-original-diversion': '<sip:+14155550101@pbx.example.com>;reason=no-answer',
  });
  // A header cannot set a built-in variable; a mapped header has one name, and a missing one has none.
  for (const name of ['call_id', 'sip_header_x-crm-id', 'missing']) {
    expect(detail.variables).not.toHaveProperty(name);
  }
  expect(detail.metadata).toEqual({ team: 'blue', external_id: 'A-4711' });
  expect(detail.concatenated_transcript).toContain('Thank you 17, order A-4711.');
});

test('the end of a call sends one signed webhook with the record of the API', async () => {
  const caller = await pickUp(system);
  const response = await caller.phone.invite(number, caller.media.sdp(), ['X-Order: B-4712']);
  expect(response.status).toBe(200);
  caller.media.connect(response.body);
  caller.phone.ack(response);
  await caller.phone.expect('BYE');
  await caller.close();
  await eventually(
    'the webhook of the second call',
    () => deliveries.some(({ body }) => body.includes('B-4712')) || null,
  );
  expect(deliveries.map(({ body }) => JSON.parse(body).metadata.external_id).sort()).toEqual([
    'A-4711',
    'B-4712',
  ]);
  expect(new Set(deliveries.map(({ headers }) => headers['x-webhook-id'])).size).toBe(2);
  for (const { headers, body } of deliveries) {
    const record = JSON.parse(body);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-webhook-event': 'call.completed',
      'x-webhook-id': expect.stringMatching(/^evt_/),
      'x-webhook-signature': createHmac('sha256', secret).update(body).digest('hex'),
    });
    expect(Math.abs(Number(headers['x-webhook-timestamp']) * 1000 - Date.now())).toBeLessThan(60_000);
    expect(record).toMatchObject({ status: 'completed', completed: true, inbound: true, to: number });
    expect(record).toEqual(await system.api.detail(record.call_id));
  }
});
