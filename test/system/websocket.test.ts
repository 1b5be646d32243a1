/** SIP over secure WebSocket (RFC 7118) through the whole edge, and the phone sessions that admit calls over it. */
import { once } from 'node:events';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ScenarioAnswer } from '#shared/api/agent-testing/scenarios.ts';
import { PathwayList } from '#shared/api/pathways.ts';
import { PhoneSessionMade } from '#shared/api/phone-sessions.ts';
import { RecordingOne } from '#shared/api/recordings.ts';
import { RefusedPage } from '#shared/api/refused.ts';
import { authorization, parseChallenges } from '../../edge/signaling/srf/digest.ts';
import { ensureConsole } from '../../scripts/setup/console.ts';
import { BrowserPhone } from '../kit/edge/browser.ts';
import { frequencyOf } from '../kit/fakes/audio.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import {
  isAccessible,
  launchBrowser,
  pageLimitMs,
  signIn,
  watchProblems,
} from '../kit/programs/console-page.ts';
import {
  deniedMicrophone,
  findWay,
  hearing,
  keysSent,
  loseSocket,
  loseWay,
  otherEdge,
  phoneArguments,
  pitchOf,
  reached,
} from '../kit/programs/console-phone.ts';
import { eventually, saw } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import { attachTrunk, startTrunkSystem, trunkPair } from '../kit/programs/trunk-system.ts';
import { supervises } from './console-supervision.ts';
import { widgetCalls } from './widget-calls.ts';

let system: TestSystem;
let port: number;
let browser: Browser;
let trunk: TestTrunk;
/** A number that may call out over it. */
const own = '+14155550155';

beforeAll(async () => {
  await ensureConsole();
  browser = await launchBrowser(phoneArguments);
  port = await freeTcpPort();
  system = await startTrunkSystem({ SIP_WSS_PORT: String(port) });
  trunk = await TestTrunk.listen(await trunkPair(system));
});

afterAll(async () => {
  await browser?.close();
  await trunk?.close();
  await system?.stop();
});

test('OPTIONS from a browser phone are answered over its WebSocket', async () => {
  const socket = new WebSocket(`wss://127.0.0.1:${port}`, 'sip', { ca: system.ca });
  await once(socket, 'open');
  expect(socket.protocol).toBe('sip');
  const answer = once(socket, 'message');
  socket.send(
    [
      'OPTIONS sip:edge@127.0.0.1 SIP/2.0',
      'Via: SIP/2.0/WSS phone.invalid;branch=z9hG4bK-websocket-test',
      'Max-Forwards: 70',
      'From: <sip:phone@phone.invalid>;tag=1',
      'To: <sip:edge@127.0.0.1>',
      'Call-ID: websocket-test',
      'CSeq: 1 OPTIONS',
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n'),
  );
  const [message] = await answer;
  expect(String(message)).toMatch(/^SIP\/2\.0 200 OK\r\n/);
  expect(String(message)).toContain('\r\nCall-ID: websocket-test\r\n');
  socket.close();
  await once(socket, 'close');
});

test('a WebSocket without the SIP subprotocol is rejected', async () => {
  const socket = new WebSocket(`wss://127.0.0.1:${port}`, 'mqtt', { ca: system.ca });
  const [error] = await once(socket, 'error');
  expect(String(error)).toMatch(/subprotocol|Unexpected server response: 4\d\d/i);
});

test('a browser calls with a phone session, as often as that says; a further call is refused and reported', async () => {
  const { number } = system.tone;
  const order = { phone_number: number, caller: 'Ada', calls: 1 };
  const { credentials, phone_session } = (
    await system.api.read(PhoneSessionMade, 'POST', '/v1/phone-sessions', order)
  ).data;
  expect(credentials.url).toBe(`wss://127.0.0.1:${port}/`);
  const phone = await BrowserPhone.connect(port, system.ca);
  let cseq = 0;
  /** An INVITE, and its rejection. The offer is one that no call accepts: what admits it is tested, not its media. */
  const invite = async (headers: Record<string, string>) => {
    const offer = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\n';
    const call = { 'Call-ID': `phone-${++cseq}`, ...headers };
    const [, via = ''] = phone.request('INVITE', cseq, call, offer, credentials.uri);
    const answer = await phone.response();
    const ack = { ...call, Via: via.slice('Via: '.length), To: answer.headers.get('to') ?? '' };
    phone.request('ACK', cseq, ack, '', credentials.uri);
    return answer;
  };
  const authorized = async () => {
    const asked = await invite({});
    expect(asked.status).toBe(401);
    const [challenge] = parseChallenges(asked.headers.get('www-authenticate') ?? '');
    if (!challenge) throw new Error('no challenge');
    const { username, password, uri } = credentials;
    const request = { username, password, uri, method: 'INVITE', body: '', nonceCount: 1, cnonce: 'c0ffee' };
    return invite({ Authorization: authorization(challenge, request) });
  };

  expect((await authorized()).status).toBe(488);
  const record = await eventually('the call in the log', async () =>
    (await system.api.calls()).find(({ from, ended_at }) => from === 'Ada' && ended_at !== null),
  );
  expect(record).toMatchObject({ to: number, trunk_id: null, termination: 'media_refused' });

  const refused = await authorized();
  expect([refused.status, refused.reason]).toEqual([403, 'The phone session has made all of its calls']);
  const entry = await eventually('the report of the refused call', async () =>
    (await system.api.read(RefusedPage, 'GET', '/v1/sip/refused')).data.refused.find(
      ({ reason }) => reason === 'phone_session_used_up',
    ),
  );
  expect(entry).toMatchObject({ phone_number: number, sip_status: 403, attempts: 1 });
  await system.api.ok('DELETE', `/v1/phone-sessions/${phone_session.id}`);
  phone.socket.close();
  await phone.closed;
});

test('the console calls agents, keeps a call over a change of the network, presses keys, and calls out over a trunk', async () => {
  await system.api.ok('POST', `/v1/inbound/${encodeURIComponent(system.tone.number)}`, {
    recording: { mode: 'audio' },
  });
  await system.api.applied(system.tone.number);
  const context = await browser.newContext({
    baseURL: `http://127.0.0.1:${system.controlPort}`,
    permissions: ['microphone'],
  });
  context.setDefaultTimeout(pageLimitMs);
  await context.addInitScript(hearing);
  const page = await context.newPage();
  const problems = watchProblems(page);
  await signIn(page, '/', system.bootstrap.api_key);

  await page.keyboard.press('p');
  const phone = page.getByRole('complementary', { name: 'Phone' });
  await phone.getByLabel('Number').waitFor();
  await page.keyboard.type(system.tone.number);
  await page.keyboard.press('Enter');
  await phone.getByText('in a call').waitFor();
  const hearsTone = () =>
    eventually(`a tone of ${system.tone.hz} Hz`, async () => {
      const heard = saw(await pitchOf(page));
      return heard !== null && Math.abs(heard / system.tone.hz - 1) < 0.01 ? heard : null;
    });
  await hearsTone();
  // It stays while one goes through the screens.
  await page.getByRole('navigation').getByRole('link', { name: 'Live calls' }).click();
  await page.getByRole('heading', { name: 'Live calls' }).waitFor();
  await phone.getByRole('button', { name: 'Hold' }).click();
  await phone.getByText('on hold').waitFor();
  await phone.getByRole('button', { name: 'Hold' }).click();
  await phone.getByText('in a call').waitFor();
  await isAccessible(page);
  const before = await reached(page);
  await loseSocket(page);
  await eventually('the call over another WebSocket, with ICE restarted', async () => {
    const now = saw(await reached(page));
    return now.sockets > before.sockets && now.ice !== before.ice ? now : null;
  });
  await phone.getByText('in a call').waitFor();
  await hearsTone();
  await phone.getByRole('button', { name: 'Hang up' }).click();
  await phone.getByText(`${system.tone.number}: ended`).waitFor();

  await phone.getByLabel('Number').fill('+14155550100');
  await page.keyboard.press('Enter');
  await phone.getByText('in a call').waitFor();
  await page.keyboard.press('1');
  await phone.getByText('+14155550100: ended').waitFor();
  await phone.getByRole('link', { name: 'Call log' }).click();
  await page.getByRole('row', { name: 'Console, key first key' }).getByText('+14155550100').waitFor();
  const record = await eventually('the end of the call in the log', async () => {
    const calls = await system.api.calls();
    return calls.find(({ to, ended_at }) => to === '+14155550100' && ended_at !== null);
  });
  await page.goto(`/calls/${record.id}`);
  await page.getByRole('listitem').getByText('You have reached sales.').waitFor();

  await attachTrunk(system, own, trunk.port);
  await talksTo(phone);
  await talksToUnpublished(phone);
  await callsOut(phone, hearsTone);
  await saysWhatIsWrong(phone);
  expect(problems.filter((one) => !one.includes('wss://127.0.0.1:9'))).toEqual([]);
  await isRecorded();
});

test('a supervisor in the console hears both parties apart, whispers, takes the call over, and gives it back', async () => {
  await ensureConsole();
  browser ??= await launchBrowser(phoneArguments);
  await supervises({ system, browser });
});

test('visitors call the agent of a widget on a page of another origin, and go on in writing where they cannot', async () => {
  await widgetCalls({ system, browser, port });
});

/** To a pathway, which needs no number, from where it is shown. */
async function talksTo(phone: Locator): Promise<void> {
  const { api } = system;
  const [pathway] = (await api.read(PathwayList, 'GET', '/v1/pathway')).filter(({ name }) => name === 'Demo');
  const scenario = await api.read(ScenarioAnswer, 'POST', '/v1/agent-testing/scenarios', {
    pathway_id: pathway?.pathway_id,
    name: 'Support',
    category: 'HAPPY_PATH',
    scenario_type: 'REPLAY',
    input_messages: [{ role: 'user', content: '2' }],
    assertions: [{ type: 'STRING_CHECK', config: { value: 'support' } }],
  });
  const page = phone.page();
  await page.goto(`/tests/${scenario.data.id}`);
  // A key that is pressed as soon as the call is answered, which may be before there is a way for media.
  await loseWay(page);
  await page.getByRole('button', { name: 'Talk to Demo' }).click();
  await phone.getByText('in a call').waitFor();
  await page.keyboard.press('2');
  await findWay(page);
  await eventually('the key on its way', async () => (await keysSent(page)).includes('2') || null);
  // All packets of the key can be lost while the machine stalls: a caller who hears no effect presses it again.
  for (let tries = 0; tries < 8; tries++) {
    const ended = await phone
      .getByText('Demo: ended')
      .waitFor({ timeout: pageLimitMs / 8 })
      .catch((error: unknown) => error);
    if (!(ended instanceof Error)) break;
    await page.keyboard.press('2');
  }
  await phone.getByText('Demo: ended').waitFor();
  const record = await eventually('the call to the pathway in the log', async () =>
    (await api.calls()).find(({ to, ended_at }) => to === 'Demo' && ended_at !== null),
  );
  expect(record).toMatchObject({
    direction: 'inbound',
    trunk_id: null,
    termination: 'agent_hangup',
    codec: 'Opus',
  });
}

/** From the page of a version that is not published, and from the list of personas. */
async function talksToUnpublished(phone: Locator): Promise<void> {
  const { api } = system;
  const page = phone.page();
  const data = { name: 'Bye', text: 'This is a draft. Goodbye.', isStart: true };
  const nodes = [{ id: 'bye', type: 'End Call', data }];
  const pathway = await api.pathway('Unpublished', nodes, []);
  await api.ok('POST', `/v1/pathway/${pathway}/version`, {
    name: 'first',
    nodes: [{ ...nodes[0], data: { ...data, text: 'This is version one. Goodbye.' } }],
    edges: [],
  });
  await api.ok('POST', '/v1/personas', { name: 'Ada' });
  const talk = async (place: string, name: string) => {
    await page.goto(place);
    await page.getByRole('button', { name: `Talk to ${name}` }).click();
    await phone.getByText(`${name}: ended`).waitFor();
    return eventually(`the call to ${name} in the log`, async () =>
      (await api.calls()).find(({ to, ended_at, id }) => to === name && ended_at !== null && !known.has(id)),
    );
  };
  const known = new Set<string>();
  for (const [version, said] of [
    ['', 'This is a draft.'],
    ['?version=1', 'This is version one.'],
  ] as const) {
    const { id } = await talk(`/pathways/${pathway}${version}`, 'Unpublished');
    known.add(id);
    await page.goto(`/calls/${id}`);
    await page.getByRole('listitem').getByText(said).waitFor();
  }
  await page.goto('/personas');
  await page.getByRole('button', { name: 'Talk to Ada' }).click();
  await phone.getByText('in a call').waitFor();
  await isAccessible(page);
  await phone.getByRole('button', { name: 'Hang up' }).click();
  await phone.getByText('Ada: ended').waitFor();
}

/** Over a trunk to a SIP peer: rings, is heard with a tone, hears the browser's microphone, and is hung up. */
async function callsOut(phone: Locator, hearsTone: () => Promise<unknown>): Promise<void> {
  const other = '+14155550166';
  const peer = await SrtpPeer.open();
  try {
    await phone.getByRole('combobox', { name: 'Call' }).selectOption(own);
    await phone.getByLabel('Number').fill(other);
    await phone.page().keyboard.press('Enter');
    const call = await trunk.call();
    expect(call.invite.header('from')).toContain(own);
    call.answer('180 Ringing');
    await phone.getByText('ringing…').waitFor();
    peer.connect(call.invite.body);
    call.answer('200 OK', peer.sdp());
    await call.expect('ACK');
    await phone.getByText('in a call').waitFor();
    let talks = true;
    const talking = (async () => {
      while (talks) await peer.play(peer.toneFrames(system.tone.hz, 10));
    })();
    await hearsTone();
    await peer.when(() => peer.samples(8000).some((sample) => Math.abs(sample) > 1000));
    talks = false;
    await talking;
    await phone.getByRole('button', { name: 'Hang up' }).click();
    await call.expect('BYE');
  } finally {
    peer.close();
  }
  const leg = await eventually('the leg over the trunk in the log', async () =>
    (await system.api.calls()).find(({ to, ended_at }) => to === other && ended_at !== null),
  );
  expect(leg).toMatchObject({ codec: 'PCMU' });
}

/** A number of nobody, a microphone that is denied, and an edge that was linked after the page was loaded. */
async function saysWhatIsWrong(phone: Locator): Promise<void> {
  const page = phone.page();
  const call = async (number: string) => {
    await phone.getByRole('combobox', { name: 'Call' }).selectOption('');
    await phone.getByLabel('Number').fill(number);
    await page.keyboard.press('Enter');
  };
  await call('+14155550199');
  await phone.getByRole('alert').getByText('NUMBER_NOT_FOUND').waitFor();
  await page.evaluate(otherEdge);
  await call(system.tone.number);
  await phone.getByRole('alert').getByText('Load the page again, then call.').waitFor();
  await page.evaluate(deniedMicrophone);
  await call(system.tone.number);
  await phone.getByRole('alert').getByText('Allow the microphone for this page').waitFor();
  await isAccessible(page);
}

/** Both sides of the first call, of which the browser's is beeps. */
async function isRecorded(): Promise<void> {
  const { api, tone } = system;
  const first = (await api.calls()).findLast(({ to, codec }) => to === tone.number && codec === 'Opus');
  const path = `/v1/calls/${first?.id}/recording`;
  await eventually('the recording in control', async () => {
    const answer = await api.request('GET', `${path}/details`);
    return answer.status === 200 && answer.read(RecordingOne).data.recording.state === 'ready' ? true : null;
  });
  const { bytes } = await api.ok('GET', path);
  const channel = (which: 0 | 1) =>
    Int16Array.from({ length: (bytes.length - 44) / 4 }, (_, i) => bytes.readInt16LE(44 + 4 * i + 2 * which));
  expect(channel(0).some((sample) => Math.abs(sample) > 1000)).toBe(true);
  const agent = channel(1);
  const parts = Array.from({ length: Math.floor(agent.length / 800) }, (_, i) =>
    agent.subarray(800 * i, 800 * (i + 1)),
  );
  expect(parts.some((part) => Math.abs(frequencyOf(part) / tone.hz - 1) < 0.01)).toBe(true);
}
