import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { encodeHep, type HepPacket } from '#shared/hep.ts';
import { callRecord } from '../../test/kit/fakes/call-record.ts';
import { FakeControl } from '../../test/kit/fakes/fake-control.ts';
import { defaultLinkLimits } from './link.ts';
import { Reporting } from './reporting.ts';
import type { ReportingOptions } from './reporting-options.ts';
import { defaultTraceLimits } from './trace-collector.ts';

const answered = callRecord({ answered_at: '2030-01-01T00:00:02.000Z', status: 'in-progress' });
const ended = { ...answered, ended_at: '2030-01-01T00:00:09.000Z', status: 'completed' as const };

function message(startLine: string, body = ''): HepPacket {
  return {
    at: Date.UTC(2030, 0, 1) * 1000,
    source: { address: '203.0.113.9', port: 40000 },
    destination: { address: '203.0.113.20', port: 5061 },
    transport: 'tls',
    direction: 'received',
    callId: answered.sip_call_id,
    payload: Buffer.from(`${startLine}\r\nCall-ID: ${answered.sip_call_id}\r\n\r\n${body}`),
  };
}

describe('Reporting', () => {
  let folder: string;
  let control: FakeControl;
  let reporting: Reporting;

  const open = (changes: Partial<ReportingOptions> = {}) =>
    Reporting.open({
      dataDir: folder,
      clock: systemClock,
      controlUrl: control.url,
      edgeToken: 'secret',
      facts: {
        software: 'test',
        sip: { host: '127.0.0.1', port: 5061 },
        rtp: { ip: '127.0.0.1', port_min: 10000, port_max: 20000 },
        codecs: ['PCMU'],
      },
      linkLimits: { ...defaultLinkLimits, gatherMs: 1, retryMs: 5 },
      traceLimits: { ...defaultTraceLimits, lingerMs: 0 },
      flushMs: 0,
      log: () => {},
      onConfig: () => {},
      onCommand: async () => {},
      metrics: () => ({}),
      ...changes,
    });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'reporting-'));
    control = await FakeControl.open();
    reporting = await open();
  });

  afterEach(async () => {
    await reporting.close();
    await control.close();
    rmSync(folder, { recursive: true });
  });

  /** Sends HEP copies like an engine; resolves when they were read. */
  async function capture(...packets: HepPacket[]): Promise<void> {
    const { host, port, key } = reporting.hep;
    const before = reporting.metrics().trunkline_edge_trace_dialogs ?? 0;
    const socket = connect(port, host);
    for (const packet of packets) socket.write(encodeHep(packet, key));
    socket.end();
    await expect.poll(() => reporting.metrics().trunkline_edge_trace_dialogs).toBeGreaterThan(before);
  }

  it("delivers a call's trace in two parts: messages up to the answer with the answer, the others with the end", async () => {
    await capture(message('INVITE sips:edge SIP/2.0'), message('ACK sips:edge SIP/2.0'));
    reporting.start();
    await control.next('hello');
    control.say({ type: 'welcome', acknowledged: 0 });
    reporting.report({ type: 'call', call: callRecord() });
    reporting.report({ type: 'call', call: answered });
    reporting.report({ type: 'call', call: ended });
    await expect.poll(() => control.reports.length).toBe(4);
    expect(control.reports.map((body) => body.type)).toEqual(['call', 'call', 'trace', 'call']);
    expect(control.reports[2]).toMatchObject({
      call_id: answered.id,
      truncated: false,
      messages: [{ start_line: 'INVITE sips:edge SIP/2.0' }, { start_line: 'ACK sips:edge SIP/2.0' }],
    });
  });

  describe('on a new link', () => {
    const { revision } = edgeProtocol;
    const running = (...call_ids: string[]) => ({ type: 'running', call_ids, lost_reports: 0 });

    async function link(acknowledged: number, welcome: object = { revision }): Promise<void> {
      const hello = control.next('hello');
      if (control.sockets.length === 0) reporting.start();
      else control.drop();
      await hello;
      control.say({ type: 'welcome', acknowledged, ...welcome });
    }

    it('says once in its life which calls are up, so that control closes those of former processes', async () => {
      reporting.report({ type: 'call', call: answered });
      reporting.report({ type: 'call', call: { ...ended, id: 'over' } });
      await link(0);
      await expect.poll(() => control.reports.length).toBe(3);
      expect(control.reports[2]).toEqual(running(answered.id));
      control.say({ type: 'ack', seq: 3 });
      await expect.poll(() => reporting.metrics().trunkline_edge_outbox_pending).toBe(0);
      await link(3);
      reporting.report({ type: 'call', call: ended });
      await expect.poll(() => control.reports.length).toBe(4);
      expect(control.reports[3]).toEqual({ type: 'call', call: ended });
    });

    it('repeats its calls, and says which are up, to a control plane that has forgotten reports', async () => {
      reporting.report({ type: 'call', call: answered });
      await link(1);
      await expect.poll(() => control.reports.length).toBe(1);
      control.say({ type: 'ack', seq: 2 });
      await expect.poll(() => reporting.metrics().trunkline_edge_outbox_pending).toBe(0);
      await link(0);
      await expect.poll(() => control.reports.length).toBe(3);
      expect(control.reports.slice(1)).toEqual([{ type: 'call', call: answered }, running(answered.id)]);
    });

    it('says nothing of it to a control plane of an earlier version', async () => {
      reporting.report({ type: 'call', call: answered });
      await link(0, {});
      await expect.poll(() => control.reports.length).toBe(1);
      await link(0);
      await expect.poll(() => control.reports.length).toBe(3);
      expect(control.reports.slice(1)).toEqual([{ type: 'call', call: answered }, running(answered.id)]);
    });

    it('reports how many reports were lost with a deleted file of the outbox', async () => {
      await reporting.close();
      const outbox = join(folder, 'outbox');
      const files = readdirSync(outbox);
      reporting = await open();
      reporting.report({ type: 'call', call: ended });
      await reporting.close();
      const first = readdirSync(outbox).find((name) => !files.includes(name)) ?? '';
      reporting = await open();
      await reporting.close();
      rmSync(join(outbox, first));
      const logged: string[] = [];
      reporting = await open({ log: (level, message) => void (level === 'error' && logged.push(message)) });
      await link(0);
      await expect.poll(() => control.reports).toEqual([{ ...running(), lost_reports: 1 }]);
      expect(logged).toEqual(['files of the outbox are missing or damaged: reports in them are lost']);
      expect(reporting.metrics()).toMatchObject({ trunkline_edge_outbox_lost_total: 1 });
    });
  });

  describe('what is measured on a call', () => {
    const measured = (at: number): ReportBody => ({
      type: 'measured',
      calls: [{ call_id: answered.id, quality: [], marks: [[0, 'sound', at]] }],
    });

    async function link(welcome: object): Promise<void> {
      reporting.start();
      await control.next('hello');
      control.say({ type: 'welcome', acknowledged: 0, ...welcome });
    }

    it('is delivered while the call is up, and the last of it before the end of the call', async () => {
      await link({ revision: edgeProtocol.revision });
      reporting.report({ type: 'call', call: answered });
      reporting.report(measured(1));
      const types = () => control.reports.map(({ type }) => type).filter((type) => type !== 'running');
      await expect.poll(types).toEqual(['call', 'measured']);
      reporting.report(measured(2));
      reporting.report({ type: 'call', call: ended });
      await expect.poll(types).toEqual(['call', 'measured', 'measured', 'call']);
      expect(control.reports.filter(({ type }) => type === 'measured')).toEqual([measured(1), measured(2)]);
    });

    it('is not sent to a control plane that does not store it', async () => {
      await link({ revision: edgeProtocol.storesMeasured - 1 });
      await expect.poll(() => reporting.connected).toBe(true);
      reporting.report(measured(1));
      reporting.report({ type: 'call', call: ended });
      await expect.poll(() => control.reports.filter(({ type }) => type === 'call')).toHaveLength(1);
      expect(control.reports.some(({ type }) => type === 'measured')).toBe(false);
    });
  });

  it('takes refused INVITEs only while a control plane that stores them is connected', async () => {
    expect(reporting.takesRefused).toBe(false);
    reporting.start();
    await control.next('hello');
    control.say({ type: 'welcome', acknowledged: 0, revision: edgeProtocol.storesRefused });
    await expect.poll(() => reporting.takesRefused).toBe(true);
    control.drop();
    await expect.poll(() => reporting.takesRefused).toBe(false);
  });

  it('delivers a long trace in several reports, each well below the frame limit of control', async () => {
    const padding = 'x'.repeat(60_000);
    await capture(
      ...Array.from({ length: 40 }, (_, n) => message('INFO sips:edge SIP/2.0', `${padding}${n}`)),
    );
    await expect
      .poll(() => reporting.metrics().trunkline_edge_trace_bytes)
      .toBeGreaterThan(40 * padding.length);
    reporting.start();
    await control.next('hello');
    control.say({ type: 'welcome', acknowledged: 0 });
    reporting.report({ type: 'call', call: answered });
    const traces = () => control.reports.filter((body) => body.type === 'trace');
    await expect.poll(() => traces().flatMap(({ messages }) => messages).length).toBe(40);
    for (const trace of traces()) expect(JSON.stringify(trace).length).toBeLessThan(2_000_000);
    const order = traces().flatMap(({ messages }) => messages.map(({ raw }) => raw.split(padding)[1]));
    expect(order).toEqual(Array.from({ length: 40 }, (_, n) => `${n}`));
  });

  it('delivers pending reports after a restart, and closes the calls that were up', async () => {
    reporting.report({
      type: 'call',
      call: callRecord({ id: 'finished', ended_at: '2030-01-01T00:00:01.000Z' }),
    });
    reporting.report({ type: 'call', call: answered });
    await reporting.close();
    reporting = await open();
    reporting.start();
    await control.next('hello');
    control.say({ type: 'welcome', acknowledged: 0 });
    await expect.poll(() => control.reports.length).toBe(3);
    expect(control.reports[2]).toMatchObject({
      type: 'call',
      call: { id: answered.id, status: 'completed', termination: 'edge_restarted' },
    });
  });

  /** Connects and receives a configuration, version 5. */
  async function configure(): Promise<void> {
    reporting.start();
    await control.next('hello');
    control.say({ type: 'welcome', acknowledged: 0 });
    const applied = control.next('applied');
    control.say({
      type: 'config',
      config: {
        version: 5,
        organizations: [],
        numbers: [],
        pathways: [],
        allowed_private_targets: [],
        open_inbound: true,
      },
    });
    await applied;
  }

  it('uses the stored configuration after a restart', async () => {
    await configure();
    await reporting.close();
    reporting = await open();
    expect(reporting.config?.version).toBe(5);
  });

  it('stores no key in the folder when it is given one, and decrypts the stored configuration only with that key', async () => {
    const secretKey = 'a1'.repeat(32);
    await reporting.close();
    rmSync(folder, { recursive: true });
    reporting = await open({ secretKey });
    await configure();
    await reporting.close();
    const files = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => relative(folder, join(parentPath, name)));
    expect(files).toContain('edge-config.json');
    expect(files.filter((file) => file.endsWith('.key'))).toEqual([]);
    expect(files.filter((file) => readFileSync(join(folder, file), 'latin1').includes(secretKey))).toEqual(
      [],
    );
    reporting = await open({ secretKey });
    expect(reporting.config?.version).toBe(5);
    await reporting.close();
    reporting = await open({ secretKey: 'b2'.repeat(32) });
    expect(reporting.config).toBeNull();
  });

  describe('the receive buffer for trace copies', () => {
    /** More than any kernel gives: SO_RCVBUF is cut to net.core.rmem_max. */
    const tooMuch = 2 ** 30 - 1;

    it.each([
      ['is asked for and given', true, 65_536, []],
      ['smaller than asked for is reported, with what to raise', true, tooMuch, [tooMuch]],
      ['does not matter to the embedded engine, whose copies come over TCP', false, tooMuch, []],
    ])('%s', async (_, foreign, datagramOctets, reported) => {
      const warnings: { message: string; facts: Record<string, unknown> }[] = [];
      await reporting.close();
      reporting = await open({
        hep: { host: '127.0.0.1', port: 0, foreign, datagramOctets },
        log: (level, message, facts = {}) => {
          if (level === 'warn') warnings.push({ message, facts });
        },
      });
      expect(warnings.map(({ facts }) => facts.wanted)).toEqual(reported);
      for (const { message, facts } of warnings) {
        expect(message).toContain('raise net.core.rmem_max');
        expect(facts.octets).toBeGreaterThan(0);
        expect(facts.octets).toBeLessThan(tooMuch);
      }
    });
  });
});
