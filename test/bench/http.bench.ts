/**
 * The control plane over HTTP: a listening process, on a database on disk with millions of calls and a year of test
 * runs. Its busiest routes against bare Fastify routes, every combination of the call log's filters, and call reports
 * over an edge link.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PathwayCreated } from '#shared/api/pathways.ts';
import { CallLogPage } from '#shared/api/sip-calls.ts';
import { type Column, grouped, markdownTable, valueTable } from '../../scripts/bench/table.ts';
import { EdgeClient } from '../kit/control/edge-client.ts';
import { bookingGraph } from '../kit/control/test-runs.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';
import type { BareBodies } from './bare-route.ts';
import { writeInBulk } from './bulk.ts';
import { callLogQueries } from './call-log-queries.ts';
import { callNumbers, fillCallLog } from './call-log-rows.ts';
import { callsPerFrame, reportsOfFrame, reportsPerCall } from './call-reports.ts';
import { cpuMs } from './cpu-time.ts';
import { httpRequest, type LoadResult, load, percentile } from './http-load.ts';
import { fillTestRuns } from './test-run-rows.ts';

interface RouteRow {
  readonly what: string;
  readonly answerBytes: number;
  readonly load: LoadResult;
  /** CPU time of the server for each request, ms. */
  readonly cpuMs: number;
}

interface HttpBenchResult {
  readonly calls: number;
  readonly testRuns: number;
  readonly buildSeconds: number;
  readonly databaseBytes: number;
  readonly routes: readonly RouteRow[];
  readonly filters: {
    readonly combinations: number;
    readonly requests: number;
    readonly p50Ms: number;
    readonly p99Ms: number;
    /** The combination with the longest median. */
    readonly slowest: string;
    readonly slowestMs: number;
  };
  readonly reports: { readonly calls: number; readonly perSecond: number; readonly cpuMsPerCall: number };
}

export interface HttpBenchOptions {
  readonly calls?: number;
  readonly testRuns?: number;
  readonly requests?: number;
}

const connections = 8;
/** Fewer, to measure the response time and not the queue. */
const filterConnections = 2;
const filterRounds = 5;
const reportedCalls = 10_000;
/** Frames in flight, as from a busy edge. */
const framesAhead = 4;

export async function runHttpBench(options: HttpBenchOptions = {}): Promise<HttpBenchResult> {
  const { calls = 5_000_000, testRuns = 200_000, requests = 10_000 } = options;
  // Each request of a route that creates a chat leaves one.
  const control = new ControlProgram({ RATE_LIMIT_PER_MINUTE: '1000000', QUOTAS: `chats=${requests}` });
  try {
    await control.start();
    const pathwayId = await makePathway(control);
    const begun = performance.now();
    await fill(control, pathwayId, calls, testRuns);
    const buildSeconds = (performance.now() - begun) / 1000;
    const databaseBytes = statSync(join(control.folder, 'control.db')).size;
    await control.start();
    const routes = await measureRoutes(control, pathwayId, requests);
    const filters = await measureFilters(control);
    const reports = await measureReports(control);
    return { calls, testRuns, buildSeconds, databaseBytes, routes, filters, reports };
  } finally {
    await control.remove();
  }
}

async function makePathway(control: ControlProgram): Promise<string> {
  const { pathway_id } = await control.api.read(PathwayCreated, 'POST', '/v1/pathway/create', {
    name: 'Bench',
  });
  await control.api.ok('POST', `/v1/pathway/${pathway_id}`, bookingGraph);
  return pathway_id;
}

/** Ends the process, which holds its database, and fills the measured database. */
async function fill(
  control: ControlProgram,
  pathwayId: string,
  calls: number,
  testRuns: number,
): Promise<void> {
  await control.end('SIGTERM');
  const { org_id: orgId } = firstKeys(control);
  writeInBulk(join(control.folder, 'control.db'), (connection) => {
    fillCallLog(connection, orgId, calls);
    fillTestRuns(connection, { orgId, pathwayId, runs: testRuns, endsAt: Date.now() });
  });
}

function firstKeys(control: ControlProgram): { org_id: string; api_key: string; edge_token: string } {
  return JSON.parse(readFileSync(join(control.folder, 'bootstrap.json'), 'utf8'));
}

// ---------------------------------------------------------------- routes

interface Measured {
  readonly what: string;
  readonly url: string;
  readonly pid: number | undefined;
  readonly requests: number;
  readonly request: (index: number) => Buffer;
  readonly answered?: (body: Buffer) => void;
}

async function measureRoutes(
  control: ControlProgram,
  pathwayId: string,
  requests: number,
): Promise<RouteRow[]> {
  const page = await control.api.read(CallLogPage, 'GET', '/v1/sip/calls');
  const callId = page.data.calls[0]?.id ?? '';
  const { api_key: key } = firstKeys(control);
  const rows: RouteRow[] = [];
  const measure = async (
    what: string,
    share: number,
    request: Measured['request'],
    answered?: Measured['answered'],
  ) => {
    const at = { url: control.url, pid: control.pid, requests: Math.ceil(requests * share) };
    rows.push(await measureRoute({ what, ...at, request, ...(answered && { answered }) }));
  };
  const get = (path: string) => {
    const request = httpRequest('GET', path, { key });
    return () => request;
  };
  await measureBare(rows, requests, { '/small': { ok: true }, '/page': page });
  await measure('GET /v1/calls/{call_id}', 1, get(`/v1/calls/${callId}`));
  await measure('GET /v1/sip/calls, 50 calls', 0.5, get('/v1/sip/calls'));
  const number = encodeURIComponent(callNumbers.busiest);
  const filtered = `phone_number=${number}&direction=outbound&status=busy`;
  await measure('the same of a number, direction and status', 0.5, get(`/v1/sip/calls?${filtered}`));
  await measure('GET /v1/sip/calls, 500 calls', 0.1, get('/v1/sip/calls?limit=500'));
  const aggregates = '/v1/sip/calls/aggregates?limit=500&to_date=2030-01-01T00:00:00.000Z';
  const lastDay = `${aggregates}&by=hour&from_date=2029-12-31`;
  const lastMonth = `${aggregates}&by=day&from_date=2029-12-02`;
  await measure('aggregates of a day by hour, all trunks', 0.05, get(`${lastDay}&per=all`));
  await measure('the same by trunk, largest page', 0.05, get(lastDay));
  await measure('aggregates of 30 days by day, all trunks', 0.05, get(`${lastMonth}&per=all`));
  await measure('the same by trunk, largest page', 0.05, get(lastMonth));
  const chats: string[] = [];
  const create = httpRequest('POST', '/v1/pathway/chat/create', { key, body: { pathway_id: pathwayId } });
  await measure(
    'POST /v1/pathway/chat/create',
    0.2,
    () => create,
    (body) => {
      const { data }: { data: { chat_id: string } } = JSON.parse(body.toString());
      chats.push(data.chat_id);
    },
  );
  const body = { message: 'What are your opening hours?' };
  const say = (index: number) =>
    httpRequest('POST', `/v1/pathway/chat/${chats[index % chats.length]}`, { key, body });
  await measure('POST /v1/pathway/chat/{id}', 0.2, say);
  const testing = '/v1/agent-testing';
  await measure('GET /runs of agent testing, 50 runs', 0.1, get(`${testing}/runs`));
  await measure(
    'the same of a scenario',
    0.1,
    get(`${testing}/runs?scenario_id=00000000-0000-4000-8000-000000000007`),
  );
  await measure('the same, failed ones', 0.1, get(`${testing}/runs?status=FAILED`));
  await measure(
    'enhanced analytics of 365 days',
    0.02,
    get(`${testing}/analytics/${pathwayId}/enhanced?days=365`),
  );
  return rows;
}

async function measureRoute({ what, url, pid, requests, request, answered }: Measured): Promise<RouteRow> {
  await load({ url, connections, requests: Math.ceil(requests / 10), request });
  let answerBytes = 0;
  const before = cpuMs(pid);
  const result = await load({
    url,
    connections,
    requests,
    request,
    answered: (body) => {
      answerBytes = body.length;
      answered?.(body);
    },
  });
  return { what, answerBytes, load: result, cpuMs: (cpuMs(pid) - before) / requests };
}

async function measureBare(rows: RouteRow[], requests: number, bodies: BareBodies): Promise<void> {
  const bare: ChildProcess = fork(join(import.meta.dirname, 'bare-route.ts'));
  try {
    bare.send(bodies);
    const [url] = (await once(bare, 'message')) as [string];
    for (const path of Object.keys(bodies)) {
      const what = path === '/page' ? 'bare Fastify route, a page of 50 calls' : 'bare Fastify route';
      const request = httpRequest('GET', path);
      rows.push(await measureRoute({ what, url, pid: bare.pid, requests, request: () => request }));
    }
  } finally {
    const ended = once(bare, 'exit');
    bare.disconnect();
    await ended;
  }
}

// ---------------------------------------------------------------- filters

async function measureFilters(control: ControlProgram): Promise<HttpBenchResult['filters']> {
  const { api_key: key } = firstKeys(control);
  const middle = await control.api.read(CallLogPage, 'GET', '/v1/sip/calls?to_date=2029-11-15&limit=1');
  const queries = callLogQueries(middle.data.calls.map(({ id }) => id));
  const requests = queries.map((query) => httpRequest('GET', query, { key }));
  const times: number[][] = queries.map(() => []);
  const run = (rounds: number, note: boolean) =>
    load({
      url: control.url,
      connections: filterConnections,
      requests: queries.length * rounds,
      request: (index) => requests[index % requests.length] ?? Buffer.alloc(0),
      answered: (_body, index, ms) => {
        if (note) times[index % times.length]?.push(ms);
      },
    });
  await run(1, false);
  const { requests: asked, p50Ms, p99Ms } = await run(filterRounds, true);
  const medians = times.map((of) =>
    percentile(
      [...of].sort((a, b) => a - b),
      50,
    ),
  );
  const slowestMs = Math.max(...medians);
  const slowest = queries[medians.indexOf(slowestMs)] ?? '';
  return { combinations: queries.length, requests: asked, p50Ms, p99Ms, slowest, slowestMs };
}

// ---------------------------------------------------------------- reports

async function measureReports(control: ControlProgram): Promise<HttpBenchResult['reports']> {
  const { org_id, edge_token } = firstKeys(control);
  const link = `${control.url.replace('http', 'ws')}/v1/edge/link`;
  const edge = await EdgeClient.connect(link, edge_token, { edge_id: 'bench', outbox_id: 'bench' });
  await edge.next('welcome');
  const frames = Array.from({ length: Math.ceil(reportedCalls / callsPerFrame) }, (_, frame) =>
    reportsOfFrame(org_id, frame, reportedCalls),
  );
  const before = cpuMs(control.pid);
  const begun = performance.now();
  for (const [index, frame] of frames.entries()) {
    edge.sendText(frame);
    if (index >= framesAhead) await edge.next('ack');
  }
  for (let left = Math.min(framesAhead, frames.length); left > 0; left--) await edge.next('ack');
  const seconds = (performance.now() - begun) / 1000;
  const used = cpuMs(control.pid) - before;
  await edge.close();
  const reports = reportedCalls * reportsPerCall;
  return {
    calls: reportedCalls,
    perSecond: Math.round(reports / seconds),
    cpuMsPerCall: used / reportedCalls,
  };
}

// ---------------------------------------------------------------- tables

export function formatHttpBench(result: HttpBenchResult): string {
  const { routes, filters, reports } = result;
  const gigabytes = (result.databaseBytes / 1e9).toFixed(1);
  const built = `${grouped(result.calls)} calls and ${grouped(result.testRuns)} test runs, ${gigabytes} GB, built in ${result.buildSeconds.toFixed(0)} s.`;
  const columns: Column<RouteRow>[] = [
    [`over ${connections} connections`, ({ what }) => what],
    ['requests/s', ({ load: { perSecond } }) => perSecond.toFixed(0)],
    ['p50, ms', ({ load: { p50Ms } }) => p50Ms.toFixed(1)],
    ['p99, ms', ({ load: { p99Ms } }) => p99Ms.toFixed(1)],
    ['worst, ms', ({ load: { worstMs } }) => worstMs.toFixed(1)],
    ['server, ms CPU/request', (row) => row.cpuMs.toFixed(2)],
    ['response, octets', ({ answerBytes }) => grouped(answerBytes)],
  ];
  const table = markdownTable(columns, routes);
  const log = valueTable([
    ['combinations of filters', grouped(filters.combinations)],
    ['requests for pages', grouped(filters.requests)],
    ['p50, ms', grouped(filters.p50Ms)],
    ['p99, ms', grouped(filters.p99Ms)],
    ['p50 of the slowest combination, ms', grouped(filters.slowestMs)],
    ['slowest combination', `\`${filters.slowest}\``],
    ['reports, reports/s', grouped(reports.perSecond)],
    ['CPU, ms per reported call', grouped(reports.cpuMsPerCall)],
  ]);
  return [built, table, log].join('\n\n');
}

if (import.meta.main) {
  const [calls, requests] = process.argv.slice(2).map(Number);
  const options = { ...(calls && { calls }), ...(requests && { requests }) };
  process.stdout.write(`${formatHttpBench(await runHttpBench(options))}\n`);
}
