import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { terminations } from '#shared/termination.ts';
import { type ControlApp, createApp } from '../app.ts';
import { createReportStore } from '../report-writers.ts';
import { readControlConfig } from '../settings/config.ts';
import { demoCallReports } from './demo-calls.ts';
import { seedDemo } from './seed.ts';

let folder = '';
let control: ControlApp;
const clock = new FakeClock();
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'seed-'));
  const config = readControlConfig({ TRUNKLINE_DATA: folder, LOG_LEVEL: 'silent' });
  control = await createApp({ config, clock, logger: pino({ level: 'silent' }), checkAnswers: true });
});
afterEach(async () => {
  await control.close();
  rmSync(folder, { recursive: true });
});

const file = () => join(folder, 'demo.json');

function seed(storeReports = store) {
  return seedDemo({ app: control.app, services: control.services, storeReports });
}

async function store(bodies: readonly ReportBody[]): Promise<void> {
  const at = new Date(clock.now()).toISOString();
  const reports = bodies.map((body, index) => ({ seq: index + 1, at, body }));
  const { rejected } = await createReportStore(control.services.database, clock).store(
    { edgeId: 'demo', outboxId: 'demo' },
    reports,
  );
  expect(rejected).toEqual([]);
}

async function get(url: string, authorization: string) {
  const answer = await control.app.inject({ url, headers: { authorization } });
  expect(answer.statusCode).toBe(200);
  return answer.json();
}

describe('seedDemo', () => {
  it('creates an organization with numbers, agents, a tool, a widget, a port and calls, each marked as demo', async () => {
    const { apiKey, made } = await seed();
    expect(made).toEqual(['numbers', 'pathway', 'tool', 'persona', 'agents', 'widget', 'port', 'calls']);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const noted = JSON.parse(readFileSync(file(), 'utf8'));
    const { inbound_numbers } = await get('/v1/inbound', apiKey);
    expect(inbound_numbers).toMatchObject([
      { phone_number: '+14155550190', label: 'Demo: menu', pathway_id: noted.made.pathway },
      { phone_number: '+14155550191', label: 'Demo: desk', persona_id: noted.made.persona },
    ]);
    expect(await get(`/v1/pathway/${noted.made.pathway}`, apiKey)).toMatchObject({
      name: 'Demo: front desk',
    });
    expect(await get(`/v2/tools/${noted.made.tool}`, apiKey)).toMatchObject({ data: { label: 'demo' } });
    expect(await get(`/v1/widget/${noted.made.widget}/threads`, apiKey)).toMatchObject({ errors: null });
    expect(await get(`/v1/sip/port/${noted.made.port}`, apiKey)).toMatchObject({
      data: { port_request: { status: 'waiting_for_signature' } },
    });
    const { calls } = (await get('/v1/sip/calls', apiKey)).data;
    expect(calls.map((call: { outcome: string }) => call.outcome)).toEqual([
      'completed',
      'completed',
      'completed',
      'busy',
      'failed',
    ]);
    expect(await get(`/v1/calls/${calls[0].id}`, apiKey)).toMatchObject({
      request_data: { demo: true },
      variables: { order_number: '4711' },
      concatenated_transcript: expect.stringContaining('Four seven one one.'),
    });
    const { messages } = (await get(`/v1/sip/calls/${calls[0].id}/trace`, apiKey)).data;
    expect(
      messages.map(({ start_line }: { start_line: string }) => start_line.split(' ', 2).join(' ')),
    ).toEqual([
      'INVITE sip:+14155550190@demo.invalid',
      'SIP/2.0 100',
      'SIP/2.0 200',
      'ACK sip:+14155550190@demo.invalid',
      'BYE sip:+14155550123@demo.invalid',
      'SIP/2.0 200',
    ]);
  });

  it('creates nothing twice, and continues where an earlier run failed', async () => {
    const broken = seed(() => Promise.reject(new Error('disk full')));
    await expect(broken).rejects.toThrow('disk full');
    const { apiKey, made } = await seed();
    expect(made).toEqual(['calls']);
    expect((await seed()).made).toEqual([]);
    expect(await get('/v1/pathway', apiKey)).toHaveLength(1);
    expect((await get('/v1/sip/calls', apiKey)).data.calls).toHaveLength(5);
  });

  it('reports a file that it cannot parse', async () => {
    writeFileSync(file(), '{}');
    await expect(seed()).rejects.toThrow(/demo\.json cannot be understood; remove it/);
  });
});

describe('demo calls', () => {
  it('end like real calls, and have the same ids each time', () => {
    const facts = { orgId: 'o', pathwayId: 'p', now: clock.now() };
    const reports = demoCallReports(facts);
    expect(demoCallReports(facts)).toEqual(reports);
    const ended = reports.flatMap((body) => (body.type === 'call' ? [String(body.call.termination)] : []));
    expect(ended.filter((code) => !Object.hasOwn(terminations, code))).toEqual([]);
    const ids = reports.flatMap((body) => (body.type === 'call' ? [body.call.id] : []));
    expect(new Set(ids).size).toBe(5);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
