/** What a deployment gets before the load: carriers, numbers, pathways, a widget, a test scenario. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Attached } from '#shared/api/sip.ts';
import { Flite } from '#shared/models/flite.ts';
import { demoNumber, echoNumber, toneNumber } from '../../control/bootstrap.ts';
import { issue } from '../kit/fakes/certificates.ts';
import { inTurn, silence, tones } from '../kit/fakes/sounds.ts';
import { Api } from '../kit/programs/api.ts';
import { Random } from '../simulation/random.ts';
import { makeScenario, makeWidget } from './api-load.ts';
import { Carrier } from './carrier.ts';
import type { Deployment } from './deployment.ts';

const carriers = 3;
/** Longer than any run. */
const certificateDays = 30;
/** Nothing listens on these ports of the carriers' network. */
const deadEndpoints = [9, 10];
const deadNumber = '+14155552099';

export interface Prepared {
  readonly api: Api;
  readonly carriers: readonly Carrier[];
  /** Play a tone, and echo. */
  readonly lines: readonly string[];
  readonly deadNumber: string;
  readonly shortPathway: string;
  readonly askingPathway: string;
  readonly widget: string;
  readonly scenario: string;
  readonly tested: string;
  readonly greeting: Int16Array;
}

export async function prepare(deployment: Deployment, seed: number, scale: number): Promise<Prepared> {
  const api = new Api(deployment.url, deployment.bootstrap.api_key);
  const pem = (name: string) => readFile(join(deployment.folder, 'tls', name), 'utf8');
  const authority = { cert: await pem('ca.crt'), key: await pem('ca.key') };
  const pairOf = (addresses: readonly string[]) =>
    issue(authority, { names: addresses.map((one) => `IP:${one}`), days: certificateDays });
  const edge = { sipPort: deployment.sipPort, ca: deployment.ca };
  const opened: Carrier[] = [];
  for (let index = 1; index <= carriers; index++)
    opened.push(await Carrier.open(index, new Random(seed * 1000 + index), edge, pairOf, scale));

  const shortPathway = await api.pathway('short', [endNode('end', 'Thank you, goodbye.', true)], []);
  const askingPathway = await api.pathway(
    'desk',
    [
      { id: 'ask', type: 'Default', data: { name: 'Ask', text: 'How can I help you?', isStart: true } },
      endNode('bye', 'Until tomorrow then.'),
    ],
    [{ id: 'e1', source: 'ask', target: 'bye', data: { label: 'User pressed 1' } }],
  );
  for (const carrier of opened) await attach(api, carrier, askingPathway);
  await attachDead(api, opened[0]?.address ?? '');
  const sources = ['127.0.0.1', '::1', ...opened.map(({ address }) => address)];
  for (const number of [toneNumber, echoNumber])
    await api.ok('POST', '/v1/sip/update', {
      phone_number: number,
      updates: { type: 'inbound', options: { allowed_ips: sources } },
    });
  const demo = await api.ok('GET', `/v1/inbound/${encodeURIComponent(demoNumber)}`);
  for (const number of [toneNumber, echoNumber, deadNumber, ...opened.map((one) => one.number)])
    await api.applied(number);
  return {
    api,
    carriers: opened,
    lines: [toneNumber, echoNumber],
    deadNumber,
    shortPathway,
    askingPathway,
    widget: await makeWidget(api, askingPathway),
    scenario: await makeScenario(api, String(demo.body.pathway_id)),
    tested: demoNumber,
    greeting: await voicemail(),
  };
}

const endNode = (id: string, text: string, isStart = false) => ({
  id,
  type: 'End Call',
  data: { name: id, text, ...(isStart && { isStart }) },
});

/** A number in both directions, with the carrier's second trunk for failover. */
async function attach(api: Api, { number, address, ports }: Carrier, pathway_id: string): Promise<void> {
  const options = { transfer_mode: 'enable_all' };
  await configure(api, number, [
    { type: 'inbound', options: { ...options, allowed_ips: [address] } },
    { type: 'outbound', sip_endpoint: `${address}:${ports[0]}`, options },
  ]);
  const endpoints = ports.slice(1).map((port, at) => ({ host: address, port, priority: at + 1 }));
  await failover(api, number, endpoints);
  await api.answerWith(number, { pathway_id });
}

async function attachDead(api: Api, address: string): Promise<void> {
  const [first = 0, second = 0] = deadEndpoints;
  await configure(api, deadNumber, [{ type: 'outbound', sip_endpoint: `${address}:${first}` }]);
  await failover(api, deadNumber, [{ host: address, port: second, priority: 1 }]);
}

async function configure(api: Api, number: string, directions: readonly object[]): Promise<void> {
  const { data } = await api.read(Attached, 'POST', '/v1/sip/attach', { phone_number: number, directions });
  if (!data.configured.includes(number)) throw new Error(`${number}: ${JSON.stringify(data)}`);
}

function failover(api: Api, phone_number: string, endpoints: readonly object[]): Promise<unknown> {
  const failover_config = { enabled: true, endpoints, failback: 'auto' };
  return api.ok('PATCH', '/v1/sip/config', { phone_number, direction: 'outbound', failover_config });
}

/** A mailbox's greeting and its beep. */
async function voicemail(): Promise<Int16Array> {
  const flite = new Flite();
  const text = 'You have reached the voice mail of John Smith. Please leave your message after the tone.';
  const greeting = await flite.synthesize(text, { voice: 'rms', language: 'en-US', sampleRate: 8000 });
  await flite.close();
  return inTurn(silence(200), greeting, greeting, greeting, silence(500), tones([1000], 400));
}
