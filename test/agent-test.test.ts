/** The parts of `npm run agent-test` that need no server. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Batch, type Connection, connect, followed, type Run } from '../scripts/agent-test/api.ts';
import { junit } from '../scripts/agent-test/junit.ts';
import { readOptions } from '../scripts/agent-test/options.ts';
import { resultTable } from '../scripts/agent-test/table.ts';

const run = (name: string, status: string, more: Partial<Run> = {}): Run => ({
  id: '11111111-1111-4111-8111-111111111111',
  status,
  overall_score: status === 'PASSED' ? 1 : 0.25,
  duration_ms: 1500,
  scenario: { name },
  assertion_results: [],
  ...more,
});
const failed = run('Asks <b>"hours"</b> & more', 'FAILED', {
  assertion_results: [
    {
      type: 'NODE_REACHED',
      name: 'Reaches hours',
      status: 'FAILED',
      passed: false,
      is_required: true,
      reasoning: 'Hours was not visited\u0000\ud800.',
      evidence: [{ turn: 1, quote: 'When are you open?' }],
    },
  ],
});
const batch: Batch = {
  id: '22222222-2222-4222-8222-222222222222',
  status: 'FAILED',
  version_number: 3,
  created_at: '2030-01-01T00:00:00.000Z',
  completed_at: '2030-01-01T00:00:02.000Z',
  runs: [
    run('Books', 'PASSED'),
    failed,
    run('Hangs', 'ERROR', { overall_score: null, duration_ms: null, reason: 'Invalid start_node_id' }),
  ],
};

describe('JUnit XML', () => {
  it('has a case per scenario, and escapes text from users and callers', () => {
    expect(junit(batch)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="agent-test" tests="3" failures="1" errors="1" time="2.000">
  <testsuite name="agent-test version 3" tests="3" failures="1" errors="1" time="2.000" skipped="0" timestamp="2030-01-01T00:00:00.000Z">
    <properties><property name="batch_id" value="22222222-2222-4222-8222-222222222222"/></properties>
    <testcase name="Books" classname="agent-test" time="1.500"/>
    <testcase name="Asks &lt;b&gt;&quot;hours&quot;&lt;/b&gt; &amp; more" classname="agent-test" time="1.500">
      <failure type="FAILED" message="FAILED, score 0.25">FAILED required NODE_REACHED &quot;Reaches hours&quot;: Hours was not visited\ufffd\ufffd.
  line 1: When are you open?
run 11111111-1111-4111-8111-111111111111</failure>
    </testcase>
    <testcase name="Hangs" classname="agent-test" time="0.000">
      <error type="ERROR" message="ERROR, score none">Invalid start_node_id
run 11111111-1111-4111-8111-111111111111</error>
    </testcase>
  </testsuite>
</testsuites>
`);
  });
});

describe('the table', () => {
  it('has the result and the reason of each scenario', () => {
    expect(resultTable(batch).split('\n')).toEqual([
      'scenario                    status     score   seconds',
      'Books                       PASSED     1.00    1.5',
      'Asks <b>"hours"</b> & more  FAILED     0.25    1.5',
      '    Reaches hours: Hours was not visited \ud800.',
      'Hangs                       ERROR      -       -',
      '    Invalid start_node_id',
      'FAILED: 1 of 3 passed',
    ]);
  });
});

describe('waiting for a batch', () => {
  let server: Server;
  let answers: (readonly [number, object])[] = [];
  let asked: string[] = [];
  let connection: Connection;
  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      asked.push(String(request.url));
      const [status, body] = answers.shift() ?? [500, {}];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    connection = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'key');
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  it('retries a busy server, and fetches the reason of a run that no assertion explains', async () => {
    const ended = { ...batch, runs: [run('Books', 'PASSED'), failed, run('Hangs', 'ERROR')] };
    const record = { error_message: 'Invalid start_node_id', reasoning: null };
    answers = [
      [503, {}],
      [200, {}],
      [200, ended],
      [200, record],
    ];
    const found = await followed(connection, 'b', 60_000);
    expect(found.runs.map(({ reason }) => reason)).toEqual([undefined, undefined, 'Invalid start_node_id']);
    expect(asked.map((path) => path.replace('/v1/agent-testing/', ''))).toEqual([
      'batches/b/events',
      'batches/b/events',
      'batches/b',
      `runs/${failed.id}`,
    ]);
  });

  it('stops on a rejected request', async () => {
    answers = [[404, { errors: [{ code: 'BATCH_NOT_FOUND', message: 'There is no such batch.' }] }]];
    await expect(followed(connection, 'b', 60_000)).rejects.toThrow('BATCH_NOT_FOUND');
  });
});

describe('the options', () => {
  it('are read with their defaults; --junit implies --wait', () => {
    expect(readOptions(['--pathway', 'p', '--junit', 'out.xml'], { TRUNKLINE_URL: 'http://host' })).toEqual({
      subject: { kind: 'pathway', id: 'p' },
      version: null,
      scenarios: [],
      seed: null,
      wait: true,
      junit: 'out.xml',
      url: 'http://host',
      keyFile: null,
      timeoutMs: 900_000,
    });
    expect(
      readOptions(['--persona=q', '--version', '2', '--scenario', 'A', '--scenario', 'B', '--seed', '7'], {}),
    ).toMatchObject({
      subject: { kind: 'persona', id: 'q' },
      version: 2,
      scenarios: ['A', 'B'],
      seed: 7,
      wait: false,
    });
    expect(readOptions(['-h'], {})).toBe('help');
  });

  it.each([
    [[], 'exactly one of --pathway and --persona'],
    [['--pathway', 'p', '--persona', 'q'], 'exactly one'],
    [['--pathway', 'p', '--version', 'two'], '--version takes a whole number, not "two"'],
    [['--pathway', 'p', '--colour'], "Unknown option '--colour'"],
  ])('%j are refused', (args, why) => {
    expect(() => readOptions(args, {})).toThrow(why);
  });
});
