/**
 * What traces cost: requests to a control plane without a collector, to another one without, whose difference is what
 * chance makes, and to one that sends its spans to a collector. They take turns, so that each has the same machine.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { grouped, markdownTable } from '../../scripts/bench/table.ts';
import { releaseAll } from '../kit/fakes/release.ts';
import { ControlProgram } from '../kit/programs/control-program.ts';
import { useOf } from './core-use.ts';
import { httpRequest, load } from './http-load.ts';

interface TracingRow {
  readonly what: string;
  /** Medians of the rounds. */
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly p99Ms: number;
  /** Sent, of all requests. */
  readonly spans: number;
}

export interface TracingBenchOptions {
  readonly rounds?: number;
  readonly requests?: number;
}

export interface TracingBenchResult {
  readonly requests: number;
  readonly rows: readonly TracingRow[];
}

interface Round {
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly p99Ms: number;
}

const connections = 8;

export async function runTracingBench(options: TracingBenchOptions = {}): Promise<TracingBenchResult> {
  const { rounds = 9, requests = 4000 } = options;
  // Takes spans and forgets them.
  const collector = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const ways = [
    { what: 'off', env: {} },
    { what: 'off, another process', env: {} },
    { what: 'on', env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } },
  ];
  const measured = ways.map(({ what, env }) => ({
    what,
    control: new ControlProgram({ RATE_LIMIT_PER_MINUTE: '1000000', ...env }),
    rounds: [] as Round[],
  }));
  try {
    for (const { control } of measured) await control.start();
    for (const { control } of measured) await round(control, requests);
    for (let turn = 0; turn < rounds; turn += 1) {
      // Whose turn is first changes.
      const order = [...measured.slice(turn % measured.length), ...measured.slice(0, turn % measured.length)];
      for (const { control, rounds } of order) rounds.push(await round(control, requests));
    }
    const rows = await Promise.all(
      measured.map(async ({ what, control, rounds }) => ({
        what,
        perSecond: median(rounds.map(({ perSecond }) => perSecond)),
        cpuMs: median(rounds.map(({ cpuMs }) => cpuMs)),
        p99Ms: median(rounds.map(({ p99Ms }) => p99Ms)),
        spans: await spansSent(control),
      })),
    );
    return { requests: rounds * requests, rows };
  } finally {
    await releaseAll(
      ...measured.map(
        ({ control }) =>
          () =>
            control.remove(),
      ),
      () => {
        collector.closeAllConnections();
        collector.close();
      },
    );
  }
}

/** CPU time is that of the server, with what it does for its spans until the end of the round. */
async function round(control: ControlProgram, requests: number): Promise<Round> {
  const request = httpRequest('GET', '/v1/sip/calls', { key: control.keys.api_key });
  const before = useOf(control.pid).ranMs;
  const { perSecond, p99Ms } = await load({
    url: control.url,
    connections,
    requests,
    request: () => request,
  });
  return { perSecond, p99Ms, cpuMs: (useOf(control.pid).ranMs - before) / requests };
}

async function spansSent(control: ControlProgram): Promise<number> {
  const answer = await fetch(`${control.url}/metrics`, {
    headers: { authorization: `Bearer ${control.keys.operator_key}` },
  });
  return Number(
    /^trunkline_control_spans_total\{outcome="sent"\} (\d+)$/m.exec(await answer.text())?.[1] ?? 0,
  );
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

export function formatTracingBench({ requests, rows }: TracingBenchResult): string {
  return [
    `${grouped(requests)} requests to \`GET /v1/sip/calls\` each, over ${connections} connections, in turns. Medians.`,
    markdownTable<TracingRow>(
      [
        ['traces', ({ what }) => what],
        ['requests/s', ({ perSecond }) => grouped(Math.round(perSecond))],
        ['CPU of control, ms per request', ({ cpuMs }) => cpuMs.toFixed(3)],
        ['p99, ms', ({ p99Ms }) => p99Ms.toFixed(1)],
        ['spans sent', ({ spans }) => grouped(spans)],
      ],
      rows,
    ),
  ].join('\n\n');
}
