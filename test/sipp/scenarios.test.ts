/** Conformance with real SIPp over TLS with SRTP: the messages on the wire, and what the API shows. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RefusedPage } from '#shared/api/refused.ts';
import type { CallLogEntry, TracedMessage } from '#shared/api/sip-calls.ts';
import { demoNumber } from '../../control/bootstrap.ts';
import { Phone } from '../../scripts/call/phone.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';
import { isUdpFree } from '../kit/programs/ports.ts';
import { runScenario, type SippOptions } from './run.ts';

/** Attached, without an agent. */
const unanswered = '+14155550111';
/** Its voice bot never accepts the socket: rings until the time-out. */
const ringing = '+14155550112';
const keys = '+14155550113';

let system: TestSystem;
let deafBot: Server;
const deafConnections = new Set<Socket>();

beforeAll(async () => {
  deafBot = createServer((socket) => deafConnections.add(socket));
  await new Promise<void>((resolve) => deafBot.listen(0, '127.0.0.1', resolve));
  const address = deafBot.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  system = await TestSystem.start({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' });
  const { api } = system;
  for (const number of [unanswered, ringing, keys]) await api.attach(number);
  await api.answerWith(ringing, { stream_url: `wss://127.0.0.1:${port}/call` });
  await api.answerWith(keys, { pathway_id: await keyPathway() });
  for (const number of [unanswered, ringing, keys]) await api.applied(number);
});

afterAll(async () => {
  await system?.stop();
  for (const socket of deafConnections) socket.destroy();
  await new Promise<void>((resolve) => deafBot.close(() => resolve()));
});

/** Waits for a key; 1 takes the edge to the node `one`. */
function keyPathway(): Promise<string> {
  return system.api.pathway(
    'keys',
    [
      { id: 'start', type: 'Default', data: { name: 'Start', text: 'Press one.', isStart: true } },
      { id: 'one', type: 'Default', data: { name: 'One', text: 'You pressed one.' } },
    ],
    [{ id: 'e1', source: 'start', target: 'one', data: { label: 'User pressed 1' } }],
  );
}

async function pass(name: string, options: Partial<SippOptions> = {}): Promise<string> {
  const result = await runScenario(name, {
    port: system.sipPort,
    ca: system.ca,
    number: demoNumber,
    ...options,
  });
  expect(result.passed, result.report).toBe(true);
  return result.callId;
}

async function passAndEnd(name: string, options: Partial<SippOptions> = {}): Promise<CallLogEntry> {
  return system.api.endedCall(await pass(name, options));
}

async function startLines(call: CallLogEntry): Promise<string[]> {
  const messages = await system.api.trace(call.id);
  return messages.map(
    ({ direction, start_line }) => `${direction} ${start_line.replace(/sip:\S+/, 'sip:…')}`,
  );
}

/** The start lines of a call as soon as they include `line`: the last messages follow the call's end. */
function startLinesWith(call: CallLogEntry, line: string): Promise<string[]> {
  return eventually(`"${line}" in the trace`, async () => {
    const lines = await startLines(call);
    return lines.includes(line) ? lines : null;
  });
}

/** Request line, status line and Call-ID of every SIP message, as tshark sees them. */
async function dissected(pcap: Buffer): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-pcap-'));
  try {
    const file = join(folder, 'trace.pcap');
    await writeFile(file, pcap);
    const fields = ['-T', 'fields', '-e', 'sip.Request-Line', '-e', 'sip.Status-Line', '-e', 'sip.Call-ID'];
    const { stdout } = await promisify(execFile)('tshark', ['-r', file, '-Y', 'sip', ...fields]);
    return stdout.trimEnd().split('\n');
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('an answered call', () => {
  let call: CallLogEntry;
  let trace: TracedMessage[];

  beforeAll(async () => {
    call = await passAndEnd('uac-pbx-answered-call-expect-200');
    // The response to the BYE is reported after the call's end.
    trace = await eventually('the whole trace', async () => {
      const messages = await system.api.trace(call.id);
      const last = messages.at(-1);
      return last?.direction === 'sent' && /^CSeq: *2 BYE/im.test(last.raw) ? messages : null;
    });
  });

  test('is logged with codec, quality and the party that hung up', () => {
    expect(call).toMatchObject({
      direction: 'inbound',
      from: '+14155550199',
      to: demoNumber,
      status: '200 OK',
      sip_code: 200,
      outcome: 'completed',
      source_ip: '127.0.0.1',
      codec: 'PCMU',
      hangup_by: 'peer',
      media: { verdict: 'two_way', packets_lost: 0 },
    });
    expect(call.media?.packets_received).toBeGreaterThan(0);
    expect(call.media?.packets_sent).toBeGreaterThan(0);
  });

  test('has every message in its trace, in order', async () => {
    const lines = await startLines(call);
    expect(lines.filter((line) => !/ SIP\/2\.0 18\d /.test(line))).toEqual([
      'received INVITE sip:… SIP/2.0',
      'sent SIP/2.0 100 Trying',
      'sent SIP/2.0 200 OK',
      'received ACK sip:… SIP/2.0',
      'received BYE sip:… SIP/2.0',
      'sent SIP/2.0 200 OK',
    ]);
    expect(trace.map(({ seq }) => seq)).toEqual(trace.map((_, index) => index + 1));
    expect(trace[0]).toMatchObject({ transport: 'tls', local: `127.0.0.1:${system.sipPort}` });
  });

  test('shows no SRTP key in its trace', () => {
    const crypto = trace.flatMap(({ raw }) => raw.match(/^a=crypto:.*/gm) ?? []);
    expect(crypto).toHaveLength(2);
    for (const line of crypto) expect(line).toMatch(/inline:REDACTED\s*$/);
  });

  test('has a pcap file that tshark reads as SIP', async () => {
    const pcap = await system.api.request('GET', `/v1/sip/calls/${call.id}/trace.pcap`);
    expect(pcap).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/vnd.tcpdump.pcap' },
    });
    expect(await dissected(pcap.bytes)).toEqual(
      trace.map(({ start_line }) =>
        start_line.startsWith('SIP/2.0')
          ? `\t${start_line}\t${call.call_id}`
          : `${start_line}\t\t${call.call_id}`,
      ),
    );
  });
});

describe('calls', () => {
  test('a caller who hangs up at the moment of the answer leaves a completed call', async () => {
    const call = await passAndEnd('uac-pbx-bye-at-once-expect-200');
    expect(call).toMatchObject({
      outcome: 'completed',
      sip_code: 200,
      hangup_by: 'peer',
    });
  });

  test('a caller who ends the early dialog with BYE leaves a canceled call', async () => {
    const call = await passAndEnd('uac-pbx-early-bye-expect-487', { number: ringing });
    expect(call).toMatchObject({ outcome: 'canceled', sip_code: 487, hangup_by: 'peer', answered_at: null });
  });

  test('CANCEL while ringing leaves a canceled call', async () => {
    const call = await passAndEnd('uac-pbx-cancel-expect-487', { number: ringing });
    expect(call).toMatchObject({
      outcome: 'canceled',
      sip_code: 487,
      hangup_by: 'peer',
      answered_at: null,
    });
    const lines = await startLinesWith(call, 'received ACK sip:… SIP/2.0');
    expect(lines).toContain('received CANCEL sip:… SIP/2.0');
    expect(lines).toContain('sent SIP/2.0 487 Request Terminated');
  });

  test('a call survives hold and resume', async () => {
    const call = await passAndEnd('uac-pbx-hold-and-resume-expect-200');
    expect(call).toMatchObject({ outcome: 'completed', hangup_by: 'peer' });
    const lines = await startLinesWith(call, 'received BYE sip:… SIP/2.0');
    expect(lines.filter((line) => line.startsWith('received INVITE'))).toHaveLength(3);
  });

  test('an INVITE without an offer is answered with one', async () => {
    const call = await passAndEnd('uac-pbx-late-offer-expect-200');
    expect(call).toMatchObject({ outcome: 'completed', codec: 'PCMU' });
  });

  test('retransmitted requests make one call', async () => {
    const call = await passAndEnd('uac-pbx-retransmissions-expect-200');
    expect(call.outcome).toBe('completed');
    const all = await system.api.calls();
    expect(all.filter(({ call_id }) => call_id === call.call_id)).toHaveLength(1);
  });

  test('an offer that crosses ours is rejected with 491 and the call continues', async () => {
    const call = await passAndEnd('uac-pbx-glare-expect-491');
    expect(call).toMatchObject({ outcome: 'completed', hangup_by: 'peer' });
    const lines = await startLinesWith(call, 'received BYE sip:… SIP/2.0');
    expect(lines).toContain('sent SIP/2.0 491 Request Pending');
  });
});

describe('rejected calls', () => {
  test.each(['uac-pbx-plain-rtp-expect-488', 'uac-pbx-no-crypto-expect-488'])(
    '%s is logged as failed',
    async (name) => {
      const call = await passAndEnd(name);
      expect(call).toMatchObject({ outcome: 'failed', sip_code: 488, hangup_by: 'error', media: null });
    },
  );

  test('an unknown number is answered 404', async () => {
    const callId = await pass('uac-pbx-unknown-number-expect-404', { number: '+14155559999' });
    expect((await system.api.request('GET', `/v1/sip/calls/${encodeURIComponent(callId)}`)).status).toBe(404);
  });

  test('a number without an agent gets 480, logged as not answered', async () => {
    const call = await passAndEnd('uac-pbx-no-agent-expect-480', { number: unanswered });
    expect(call).toMatchObject({ outcome: 'no_answer', sip_code: 480, answered_at: null });
  });

  test('a stranger gets 403, and the owner of the number sees the attempt', async () => {
    const call = await passAndEnd('uac-stranger-call-expect-403', { source: '127.0.0.2' });
    expect(call).toMatchObject({ outcome: 'failed', sip_code: 403, source_ip: '127.0.0.2' });
    const entry = await eventually('the refused call of the stranger', async () => {
      const { data } = await system.api.read(RefusedPage, 'GET', '/v1/sip/refused?source=127.0.0.2');
      return data.refused.find(({ reason }) => reason === 'source_not_allowed') ?? null;
    });
    expect(entry).toMatchObject({ phone_number: demoNumber, sip_status: 403, call_id: call.call_id });
    expect(entry.advice).toContain(
      `add 127.0.0.2 to allowed_ips of the inbound configuration of ${demoNumber}`,
    );
  });

  test.each([
    'uac-pbx-options-expect-200',
    'uac-pbx-unknown-method-expect-405',
    'uac-pbx-bye-outside-dialog-expect-481',
  ])('%s makes no call', async (name) => {
    const before = await system.api.calls();
    await pass(name);
    expect(await system.api.calls()).toHaveLength(before.length);
  });

  test.each(['uac-pbx-unknown-extension-expect-420', 'uac-pbx-short-session-timer-expect-422'])(
    '%s is answered before an agent is started',
    async (name) => {
      await pass(name);
    },
  );

  test.each(['1.2', '1.3'] as const)('TLS %s is accepted', async (tlsVersion) => {
    await pass('uac-pbx-options-expect-200', { tlsVersion });
  });

  test.each(['1.0', '1.1'] as const)('TLS %s is rejected', async (tlsVersion) => {
    const result = await runScenario('uac-pbx-options-expect-200', {
      port: system.sipPort,
      ca: system.ca,
      number: demoNumber,
      tlsVersion,
      limitS: 5,
    });
    expect(result.passed, result.report).toBe(false);
    expect(result.report).not.toContain('SIP/2.0 ');
  });

  test.each(['TLSv1', 'TLSv1.1'] as const)('the edge itself rejects %s as too old', async (version) => {
    const phone = Phone.connect({
      host: '127.0.0.1',
      port: system.sipPort,
      ca: system.ca,
      // Security level 0: otherwise this side would reject the old version first.
      tls: { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' },
    });
    await expect(phone).rejects.toThrow(/alert protocol version/);
  });

  test('no UDP socket listens for SIP', async () => {
    expect(await isUdpFree(system.sipPort, '0.0.0.0')).toBe(true);
  });

  test.each(['udp', 'tcp'] as const)('SIP over %s is not answered', async (transport) => {
    const name = 'uac-pbx-options-expect-200';
    const result = await runScenario(name, {
      port: system.sipPort,
      ca: system.ca,
      number: demoNumber,
      transport,
      limitS: 3,
    });
    expect(result.passed, result.report).toBe(false);
    expect(result.report).not.toContain('SIP/2.0 ');
  });
});

describe('INFO', () => {
  test('is answered by what it carries, and a header of the BYE is in the record', async () => {
    const call = await passAndEnd('uac-pbx-info-keys-expect-200');
    expect((await system.api.detail(call.id)).variables).toMatchObject({ 'sip_header_x-survey': '5 stars' });
  });
});

describe('media', () => {
  test('key presses as plain RTP in an SRTP call are ignored', async () => {
    const call = await passAndEnd('uac-pbx-plain-dtmf-expect-ignored', { number: keys });
    expect(call.media?.verdict).toBe('two_way');
    const detail = await system.api.detail(call.id);
    const said = detail.transcripts.filter(({ user }) => user === 'assistant');
    expect(said.map(({ text }) => text)).toEqual(['Press one.']);
  });
});

/** Last: with its number, callers from unknown addresses are asked for a password. */
describe('a PBX with user name and password', () => {
  const number = '+14155550114';
  const credentials = { username: 'acme', password: 'a-long-password' };

  beforeAll(async () => {
    const { api } = system;
    await api.ok('POST', '/v1/sip/attach', {
      phone_number: number,
      directions: [{ type: 'inbound', auth_mode: 'digest', digest_auth: credentials }],
    });
    await api.answerWith(number, { prompt: 'Say hello.' });
    await api.applied(number);
  });

  const scenario = (name: string, password: string) =>
    runScenario(name, {
      port: system.sipPort,
      ca: system.ca,
      number,
      source: '127.0.0.9',
      credentials: { ...credentials, password },
    });

  test('is challenged once, and its call has a record and a trace without the digest', async () => {
    const { password } = credentials;
    const { passed, report, callId } = await scenario('uac-pbx-digest-expect-200', password);
    expect(passed, report).toBe(true);
    const call = await system.api.endedCall(callId);
    expect(call).toMatchObject({ direction: 'inbound', to: number, outcome: 'completed', hangup_by: 'peer' });
    const messages = await system.api.trace(call.id);
    const authorizations = messages.flatMap(({ raw }) => /^Authorization:.*$/im.exec(raw)?.[0] ?? []);
    expect(authorizations).toHaveLength(1);
    expect(authorizations[0]).toMatch(/nonce="REDACTED".*response="REDACTED"/);
    // Neither by its name nor by its value.
    const nonce = /nonce="([^"]+)"/.exec(report)?.[1] ?? '';
    const response = /response="([0-9a-f]{32})"/.exec(report)?.[1] ?? '';
    expect([nonce.length, response.length]).toEqual([46, 32]);
    for (const secret of [nonce, response, password]) expect(JSON.stringify(messages)).not.toContain(secret);
  });

  test('with a wrong password gets 403, and the record says why', async () => {
    const { passed, report, callId } = await scenario(
      'uac-pbx-wrong-password-expect-403',
      'another-password',
    );
    expect(passed, report).toBe(true);
    const call = await system.api.endedCall(callId);
    expect(call).toMatchObject({ outcome: 'failed', sip_code: 403 });
    expect(JSON.stringify(call)).toContain('User name or password of the call are wrong.');
  });
});
