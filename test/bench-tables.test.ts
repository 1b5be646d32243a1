/** The tables of benchmarks have the headings of docs/performance.md, so that measuring changes figures only. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { formatAgentTestingBench } from './bench/agent-testing.bench.ts';
import { formatAnalyticsBench } from './bench/analytics.bench.ts';
import { formatBridgeBench } from './bench/bridge.bench.ts';
import { formatConsoleBench } from './bench/console.bench.ts';
import { formatEarsBench } from './bench/ears.bench.ts';
import { formatFleetBench } from './bench/fleet.bench.ts';
import { formatHttpBench } from './bench/http.bench.ts';
import { formatIngestBench } from './bench/ingest.bench.ts';
import { formatMediaBench } from './bench/media.bench.ts';
import { formatOutboundBench } from './bench/outbound.bench.ts';
import { formatParserBench } from './bench/parser.bench.ts';
import { formatShardsBench } from './bench/shards.bench.ts';
import { formatSignalingBench } from './bench/signaling.bench.ts';
import { formatTalkBench } from './bench/talk.bench.ts';
import { formatTracingBench } from './bench/tracing.bench.ts';

const page = readFileSync(new URL('../docs/performance.md', import.meta.url), 'utf8');

/** Empty results: the headings do not depend on the figures. */
const printed: Readonly<Record<string, string>> = {
  'agent-testing': formatAgentTestingBench({
    runs: 0,
    turns: 0,
    seconds: 0,
    runsPerSecond: 0,
    cpuSecondsPerThousandRuns: 0,
    longestPauseMs: 0,
  }),
  analytics: formatAnalyticsBench({ runs: 0, periodRows: 0, questions: [] }),
  bridge: formatBridgeBench([]),
  console: formatConsoleBench({ loadAverage: 0, weights: [], paints: [], scrolls: [] }),
  ears: formatEarsBench({ quality: [], cost: [] }),
  fleet: formatFleetBench({ numbers: 0, load: [], config: [], growth: [] }),
  http: formatHttpBench({
    calls: 0,
    testRuns: 0,
    buildSeconds: 0,
    databaseBytes: 0,
    routes: [],
    filters: { combinations: 0, requests: 0, p50Ms: 0, p99Ms: 0, slowest: '', slowestMs: 0 },
    reports: { calls: 0, perSecond: 0, cpuMsPerCall: 0 },
  }),
  ingest: formatIngestBench({
    calls: 0,
    reports: 0,
    callsPerSecond: 0,
    reportsPerSecond: 0,
    cpuSecondsPerThousandCalls: 0,
    listMedianMs: 0,
    listWorstMs: 0,
    databaseBytes: 0,
  }),
  media: formatMediaBench({ load: [], standing: [] }),
  outbound: formatOutboundBench({ loads: [], failover: [] }),
  parser: formatParserBench([]),
  shards: formatShardsBench({ agents: [], bridges: [] }),
  signaling: formatSignalingBench([]),
  talk: formatTalkBench({ seed: 1, speakers: [], calls: 0, load: 0, latencies: [], shares: [], stops: [] }),
  tracing: formatTracingBench({ requests: 0, rows: [] }),
};

const sections = new Map(
  (page.split(/<!-- measured: \w+ -->/)[1] ?? '').split(/^## /m).map((section): [string, string] => {
    const [name = '', ...lines] = section.split('\n');
    return [name.trim(), lines.join('\n')];
  }),
);

const cells = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The headings of each table; of one value a line, the names of the values. */
function headings(text: string): string[][] {
  return text.split(/\n{2,}/).flatMap((block) => {
    const [heading = '', rule = '', ...rows] = block.trim().split('\n');
    if (!/^\|[\s:|-]+\|$/.test(rule)) return [];
    const columns = cells(heading);
    return [columns.at(-1) === 'value' ? rows.map((row) => cells(row)[0] ?? '') : columns];
  });
}

it.each(Object.entries(printed))('%s prints the headings of its section', (name, text) => {
  expect(headings(text)).not.toEqual([]);
  expect(headings(text)).toEqual(headings(sections.get(name) ?? ''));
});

it('is complete', () => {
  expect([...sections.keys()].filter((name) => name !== '').sort()).toEqual(Object.keys(printed).sort());
});
