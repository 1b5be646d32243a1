/** The console in a real browser, served by a real control plane, with calls that an edge reports to it. */
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NumberConfigurations } from '#shared/api/sip.ts';
import type { TraceMessage, TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { QualitySample } from '#shared/edge-protocol/measured.ts';
import type { HealthProbe } from '#shared/trunk-protocol.ts';
import { ensureConsole } from '../../scripts/setup/console.ts';
import { takeCommand } from '../kit/control/console-connect.ts';
import { callRecord, EdgeClient, reportFrame } from '../kit/control/edge-client.ts';
import { sealedFor, sendRecordingTo } from '../kit/control/recording-of-edge.ts';
import { AdminProgram } from '../kit/programs/admin-program.ts';
import * as consolePage from '../kit/programs/console-page.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';
import { eventually } from '../kit/programs/eventually.ts';

/** What the browser may fetch until the first screen is shown, compressed. */
const firstScreenBytes = 200_000;

const callId = '00000000-0000-4000-8000-000000000001';
const trunkNumber = '+14155550177';
const dayMs = 24 * 60 * 60_000;
const startedAt = '2030-01-01T00:00:00.000Z';

const control = new ControlProgram();
let strangersKey = '';
let browser: Browser;
let context: BrowserContext;
let page: Page;
let problems: string[] = [];

beforeAll(async () => {
  await ensureConsole();
  await control.start();
  await reportCalls();
  strangersKey = await anotherOrganization();
  browser = await consolePage.launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await control.remove();
});

/** A call with a trace and a transcript, and one that the trunk refused. */
async function reportCalls(): Promise<void> {
  const { org_id, edge_token } = control.keys;
  const edge = await EdgeClient.connect(linkUrl(), edge_token);
  const { config } = await edge.next('config');
  const key = config.organizations.find((one) => one.org_id === org_id)?.recording;
  if (!key) throw new Error('there is no recording key');
  const recording = sealedFor(key, Date.parse(startedAt) + 2000, callId, { orgId: org_id, more: 300 });
  await sendRecordingTo(control.url, edge_token, recording);
  const refused = callRecord(org_id, {
    id: '00000000-0000-4000-8000-000000000002',
    sip_call_id: 'refused',
    direction: 'outbound',
    from: '+14155550100',
    to: '+14155550199',
    answered_at: null,
    sip_code: 403,
    sip_reason: 'Forbidden',
    termination: 'route_refused',
    termination_detail: 'The trunk answered 403 Forbidden.',
    status: 'failed',
    media: null,
  });
  const trunk = await movedTrunk();
  edge.send(
    reportFrame(1, [
      { type: 'health', probes: [probe(trunk, 0, false), probe(trunk, 1, true)] },
      { type: 'call', call: callRecord(org_id) },
      { type: 'call', call: refused },
      {
        type: 'transcript',
        call_id: callId,
        entries: [
          line(1, 'assistant', 'Good day, this is the <b>clinic</b>.'),
          line(2, 'user', 'I need a refund.'),
        ],
      },
      {
        type: 'measured',
        calls: [
          {
            call_id: callId,
            quality: [{ part: 0, whole: false, samples: [sample(5000, 4.2), sample(10_000, 3.2)] }],
            marks: [
              [1, 'voice', 4000],
              [1, 'pause', 5200],
              [1, 'turn', 5700],
              [1, 'words', 5800],
              [1, 'token', 6000],
              [1, 'decided', 6000],
              [1, 'sound', 6200],
              [1, 'end', 9000],
            ],
          },
        ],
      },
      {
        type: 'trace',
        call_id: callId,
        messages: [
          traced('INVITE sip:+14155550100@edge.example.com SIP/2.0', 'received'),
          traced('SIP/2.0 200 OK', 'sent'),
        ],
        truncated: false,
      },
    ]),
  );
  await edge.arrival('ack');
  await edge.close();
}

function line(seq: number, user: 'user' | 'assistant', text: string): TranscriptEntry {
  return {
    id: `00000000-0000-4000-8000-00000000010${seq}`,
    at: `2030-01-01T00:00:0${Math.min(9, 2 + seq)}.000Z`,
    user,
    text,
    node_id: null,
    node_name: null,
  };
}

const linkUrl = () => `${control.url.replace('http', 'ws')}/v1/edge/link`;

/** Of 5 s, with 30 ms of jitter. */
function sample(atMs: number, mos: number): QualitySample {
  return [atMs, 5000, 0, 250, 2, 0, 30, 60, -22, 250, 0, -18, 41, mos, 4.3, 0.4];
}

/** An outbound trunk with a second endpoint. @returns the id of its configuration */
async function movedTrunk(): Promise<string> {
  const { api } = control;
  await api.ok('POST', '/v1/sip/attach', {
    phone_number: trunkNumber,
    directions: [{ type: 'outbound', sip_endpoint: 'sip:one.trunk.example.com' }],
  });
  await api.ok('PATCH', '/v1/sip/config', {
    phone_number: trunkNumber,
    direction: 'outbound',
    failover_config: {
      enabled: true,
      endpoints: [{ host: 'two.trunk.example.com', priority: 1 }],
      failback: 'manual',
    },
  });
  const { data } = await api.read(
    NumberConfigurations,
    'GET',
    `/v1/sip?phone_number=${encodeURIComponent(trunkNumber)}`,
  );
  return data.outbound?.id ?? '';
}

function probe(trunk_id: string, priority: 0 | 1, healthy: boolean): HealthProbe {
  return {
    trunk_id,
    endpoint: {
      host: priority === 0 ? 'one.trunk.example.com' : 'two.trunk.example.com',
      port: 5061,
      priority,
    },
    at: new Date().toISOString(),
    healthy,
    response_time_ms: healthy ? 31 : null,
    sip_code: healthy ? 200 : null,
    error: healthy ? null : 'unreachable',
    consecutive_failures: healthy ? 0 : 4,
    active: priority === 1,
    ...(priority === 0 && {
      certificate: {
        subject: 'CN=one.trunk.example.com',
        issuer: 'O=Test authority',
        names: ['one.trunk.example.com'],
        valid_from: new Date(Date.now() - 80 * dayMs).toISOString(),
        expires_at: new Date(Date.now() + 10.5 * dayMs).toISOString(),
        seen_at: new Date().toISOString(),
      },
    }),
  };
}

function traced(start_line: string, direction: TraceMessage['direction']): TraceMessage {
  return {
    at: startedAt,
    direction,
    local: '203.0.113.20:5061',
    remote: '198.51.100.9:40312',
    transport: 'tls',
    start_line,
    raw: `${start_line}\r\nCSeq: 1 INVITE\r\nUser-Agent: Test PBX\r\n\r\n`,
  };
}

async function anotherOrganization(): Promise<string> {
  const admin = new AdminProgram();
  try {
    const { stdout } = await admin.run(control.folder, ['org', 'create', 'Another', '--sip']);
    const id = /[0-9a-f-]{36}/.exec(stdout)?.[0] ?? '';
    const made = await admin.run(control.folder, ['key', 'create', id]);
    return /tk_[A-Za-z0-9_-]+/.exec(made.stdout)?.[0] ?? '';
  } finally {
    await admin.end();
  }
}

beforeEach(async () => {
  context = await browser.newContext({ baseURL: control.url, viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(consolePage.pageLimitMs);
  page = await context.newPage();
  problems = consolePage.watchProblems(page);
});
afterEach(async () => {
  await context.close();
  expect(problems).toEqual([]);
});

const keyField = () => consolePage.keyField(page);
const signIn = (path: string, key = control.keys.api_key) => consolePage.signIn(page, path, key);
const brokenRules = () => consolePage.brokenRules(page);
const fitsPhone = () => consolePage.fitsPhone(page);

/** Plays turn 1, until 9 s: the browser fetches a part of the recording, and the cursor goes along to its end. */
async function hearsTurn(): Promise<void> {
  const cursorAt = async () => Number(await page.locator('.waveform .pointed').getAttribute('x1'));
  await page.getByRole('button', { name: '+3.000 s' }).first().click();
  const at3s = await cursorAt();
  await page.getByRole('button', { name: '+4.000 s' }).first().click();
  const perSecond = (await cursorAt()) - at3s;
  const part = page.waitForResponse((answer) => answer.url().includes('/recording?format=wav'));
  await page.getByRole('button', { name: 'Play turn 1' }).click();
  expect((await part).status()).toBe(206);
  const seconds = async () => Math.abs((await cursorAt()) - at3s - 6 * perSecond) < 1 || null;
  await eventually('the cursor to reach the end of the turn', seconds, consolePage.pageLimitMs);
  await page.getByRole('button', { name: 'Play from the cursor' }).waitFor();
}

describe('the console', () => {
  it('says what is wrong with a key, and opens the address that was asked for with the right one', async () => {
    await page.goto(`/calls/${callId}`);
    await keyField().fill('tk_not_a_key');
    await page.keyboard.press('Enter');
    const alert = page.getByRole('alert').filter({ hasText: 'Unauthorized' });
    await alert.getByText('Check that the key is complete').waitFor();
    expect(await brokenRules()).toEqual([]);
    await fitsPhone();
    await keyField().fill(control.keys.api_key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '+14155550123 → +14155550100' }).waitFor();
    await page.getByText('Default', { exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await keyField().waitFor();
  });

  it('lists calls, filters them and finds what was said, with only the keyboard', async () => {
    await signIn('/calls');
    const rows = page.getByRole('row');
    await page.getByText('The trunk answered 403 Forbidden.').waitFor();
    expect(await rows.count()).toBe(3);
    expect(await brokenRules()).toEqual([]);
    await page.keyboard.press('/');
    await page.keyboard.type('refund');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'I need a refund.' }).waitFor();
    await page.locator('body').press('j');
    await page.keyboard.press('Enter');
    await page.getByText('The caller hung up.').waitFor();
    await page.goBack();
    await page.getByRole('cell', { name: 'I need a refund.' }).waitFor();
    await page.goto('/calls?outcome=failed');
    await page.getByRole('cell', { name: '+14155550199' }).waitFor();
    expect(await rows.count()).toBe(2);
    await page.goto('/calls?number=%2B1');
    await page.getByRole('alert').getByText('INVALID_PARAMETER').waitFor();
    await fitsPhone();
  });

  it('shows why a call ended, what was said and each SIP message, always as text', async () => {
    await signIn(`/calls/${callId}`);
    await page.getByText('The caller hung up.').waitFor();
    await page.getByRole('listitem').getByText('Good day, this is the <b>clinic</b>.').waitFor();
    await page.getByText('198.51.100.9:40312 Test PBX').waitFor();
    await page.getByRole('img', { name: 'MOS over time' }).locator('canvas').waitFor();
    await page.getByText('Figures of the samples').click();
    await page.getByRole('cell', { name: '3.20 / 4.30' }).waitFor();
    await page.getByText('Turns 1').click();
    await page.getByRole('row', { name: '1 speech' }).waitFor();
    await page.getByText('peaks of the recording').waitFor();
    await hearsTurn();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    expect(await brokenRules()).toEqual([]);
    await page.getByRole('button', { name: /INVITE.*, received from 198\.51\.100\.9:40312/ }).click();
    await page.getByRole('region', { name: 'Message text' }).getByText('CSeq: 1 INVITE').waitFor();
    await fitsPhone();
    await page.goto('/calls/00000000-0000-4000-8000-000000000002');
    await page.getByText('caused by the trunk, SIP 403').waitFor();
    await page.getByText('This call has no SIP trace.').waitFor();
  });

  it('shows calls in progress as they begin, speak and end, without a reload', async () => {
    await signIn('/live');
    await page.getByText('No call is in progress.').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    const { org_id, edge_token } = control.keys;
    const edge = await EdgeClient.connect(linkUrl(), edge_token, { outbox_id: 'outbox-2' });
    const id = '00000000-0000-4000-8000-000000000003';
    const running = callRecord(org_id, { id, sip_call_id: 'running', ended_at: null, status: 'in-progress' });
    edge.send(reportFrame(1, [{ type: 'call', call: { ...running, sip_code: null, hangup_by: null } }]));
    const row = page.getByRole('row', { name: '+14155550123' });
    edge.send(
      reportFrame(2, [{ type: 'transcript', call_id: id, entries: [line(9, 'user', 'Is anybody there?')] }]),
    );
    await row.getByText('Caller: Is anybody there?').waitFor();
    const quality = [{ part: 0, whole: false, samples: [sample(5000, 3.41)] }];
    edge.send(reportFrame(3, [{ type: 'measured', calls: [{ call_id: id, quality, marks: [] }] }]));
    for (const text of ['answered', '3.41']) await row.getByText(text).waitFor();
    await row.getByRole('meter', { name: 'From' }).waitFor();
    expect(await brokenRules()).toEqual([]);
    await fitsPhone();
    await page.setViewportSize({ width: 1280, height: 800 });
    await row.getByRole('button', { name: 'Transfer' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'To' }).fill('+14155550199');
    await dialog.getByRole('button', { name: 'Transfer', exact: true }).click();
    expect(await takeCommand(edge, 'call.transfer')).toMatchObject({ call_id: id, target: '+14155550199' });
    await dialog.waitFor({ state: 'detached' });
    await edge.close();
    await row.getByRole('button', { name: 'Hang up' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Hang up' }).click();
    await page.getByRole('alert').getByText('SERVICE_UNAVAILABLE').waitFor();
    const again = await EdgeClient.connect(linkUrl(), edge_token, { outbox_id: 'outbox-2' });
    again.send(reportFrame(4, [{ type: 'call', call: callRecord(org_id, { id, sip_call_id: 'running' }) }]));
    await page.getByText('No call is in progress.').waitFor();
    await page.getByRole('button', { name: 'Keep the call' }).press('Escape');
    await page.locator('#content:focus').waitFor();
    await again.close();
  });

  it('shows where calls of a trunk go, and says why they cannot go back yet', async () => {
    await signIn('/trunks');
    await page.getByRole('link', { name: trunkNumber }).click();
    const moved = page.getByRole('row', { name: 'two.trunk.example.com:5061 secondary next call goes here' });
    await moved.getByText('healthy').waitFor();
    await page.getByText('Calls go to the secondary endpoint.').waitFor();
    await page.getByText('10 days left').waitFor();
    expect(await brokenRules()).toEqual([]);
    expect(await consolePage.tablesOutOfSight(page)).toEqual([]);
    await fitsPhone();
    await page.getByRole('button', { name: 'Return to the primary now' }).click();
    await page.getByRole('alert').getByText('SERVICE_UNAVAILABLE').waitFor();
    await page.goto('/trunks/%2B14155550000');
    await page.getByRole('alert').getByText('NUMBER_NOT_FOUND').waitFor();
  });

  it('shows a lost connection, and goes on by itself when control is back', async () => {
    await signIn('/sessions');
    await page.getByText('this browser').waitFor();
    await control.end('SIGKILL');
    await page.getByRole('link', { name: 'Calls', exact: true }).click();
    await page.getByText('No connection to the control plane').waitFor();
    await page.getByRole('alert').getByText('The control plane did not answer.').first().waitFor();
    await control.start();
    await page.getByText('The trunk answered 403 Forbidden.').waitFor();
    await page.getByText('No connection to the control plane').waitFor({ state: 'detached' });
  });

  it('shows another organization nothing, and operators what is theirs', async () => {
    await signIn('/live', strangersKey);
    await page.getByText('No call is in progress.').waitFor();
    await page.getByRole('link', { name: 'Calls', exact: true }).click();
    await page.getByText('No calls yet.').waitFor();
    expect(await brokenRules()).toEqual([]);
    await page.goto(`/calls/${callId}`);
    await page.getByRole('alert').getByText('CALL_NOT_FOUND').waitFor();
    await page.goto('/calls?words=refund');
    await page.getByText('Nobody said that.').waitFor();
    await context.clearCookies();
    await signIn('/', control.keys.operator_key);
    await page.getByRole('cell', { name: 'edge-1', exact: true }).waitFor();
    const screens = page.getByRole('navigation').getByRole('link');
    expect(await screens.allTextContents()).toEqual(['Edges', 'Number porting', 'Sessions']);
    expect(await brokenRules()).toEqual([]);
    for (const name of ['Drain edge-1', 'Drain it', 'Take back edge-1', 'Take it back'])
      await page.getByRole('button', { name }).click();
    await page.getByRole('button', { name: 'Drain edge-1' }).waitFor();
  });

  it('fetches little until the first screen is shown', async () => {
    const ended: Request[] = [];
    page.on('requestfinished', (request) => ended.push(request));
    await signIn('/calls');
    await page.getByText('The trunk answered 403 Forbidden.').waitFor();
    const fetched = await Promise.all(ended.map((request) => request.sizes()));
    const bytes = fetched.reduce((sum, one) => sum + one.responseBodySize + one.responseHeadersSize, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(firstScreenBytes);
  });
});
