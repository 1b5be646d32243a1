/** The parts of `npm run agent-test` that need no server. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Trunkline } from '../clients/typescript/src/index.ts';
import { figuresOf } from '../control/testing/records/load-rules.ts';
import { annotations } from '../scripts/agent-test/annotations.ts';
import { type Batch, followed, type Run } from '../scripts/agent-test/api.ts';
import { junit } from '../scripts/agent-test/junit.ts';
import { isLoadEnough, type Load, loadJunit, loadLines } from '../scripts/agent-test/load.ts';
import { readOptions } from '../scripts/agent-test/options.ts';
import { byScenario, isEnough, repeatLines } from '../scripts/agent-test/repeats.ts';
import { resultTable } from '../scripts/agent-test/table.ts';
import { clientAt } from '../scripts/connection.ts';

const run = (name: string, status: string, more: Partial<Run> = {}): Run => ({
  id: '11111111-1111-4111-8111-111111111111',
  status,
  overall_score: status === 'PASSED' ? 1 : 0.25,
  duration_ms: 1500,
  scenario: { name },
  usage: null,
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

describe('what is printed', () => {
  it('has no line that a CI job takes for a command', () => {
    const named = [run('bad\n::error::injected', 'FAILED'), run('::stop-commands::x ##[error]', 'FAILED')];
    const lines = [
      resultTable({ ...batch, runs: named }),
      ...repeatLines(byScenario([{ ...batch, runs: named }])),
    ];
    expect(lines.join('\n')).not.toMatch(/^\s*::|##\[/m);
  });
});

describe('JUnit XML', () => {
  it('has a case per scenario, and escapes text from users and callers', () => {
    expect(junit(batch, 'Front & desk')).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="agent-test" tests="3" failures="1" errors="1" time="2.000">
  <testsuite name="agent-test version 3" tests="3" failures="1" errors="1" time="2.000" skipped="0" timestamp="2030-01-01T00:00:00.000Z">
    <properties><property name="batch_id" value="22222222-2222-4222-8222-222222222222"/></properties>
    <testcase name="Books" classname="Front &amp; desk" time="1.500"/>
    <testcase name="Asks &lt;b&gt;&quot;hours&quot;&lt;/b&gt; &amp; more" classname="Front &amp; desk" time="1.500">
      <failure type="FAILED" message="FAILED, score 0.25">FAILED required NODE_REACHED &quot;Reaches hours&quot;: Hours was not visited\ufffd\ufffd.
  line 1: When are you open?
run 11111111-1111-4111-8111-111111111111</failure>
    </testcase>
    <testcase name="Hangs" classname="Front &amp; desk" time="0.000">
      <error type="ERROR" message="ERROR, score none">Invalid start_node_id
run 11111111-1111-4111-8111-111111111111</error>
    </testcase>
  </testsuite>
</testsuites>
`);
  });
});

describe('the table of results', () => {
  it('ends with tokens and cost once a model was asked, and with what is not known of them', () => {
    expect(resultTable(batch)).not.toContain('tokens');
    const usage = { input_tokens: 900, output_tokens: 100, cost: 0.0125, currency: 'EUR', unknown: [] };
    const silent = { ...usage, cost: null, unknown: ['Nobody tells the tokens of the agent.'] };
    const priced = { ...batch, runs: [run('Books', 'PASSED', { usage }), run('Hours', 'PASSED', { usage })] };
    expect(resultTable(priced).split('\n').at(-2)).toBe('tokens: 1800 in, 200 out; cost: 0.025 EUR');
    const partly = { ...batch, runs: [...priced.runs, run('Hangs', 'PASSED', { usage: silent })] };
    expect(resultTable(partly).split('\n').slice(-3, -1)).toEqual([
      'tokens: 2700 in, 300 out; cost: 0.025 EUR, without 1 run',
      '    Nobody tells the tokens of the agent.',
    ]);
  });
});

describe('repeated runs', () => {
  const second = {
    ...batch,
    runs: [run('Books', 'PASSED'), run(failed.scenario.name, 'PASSED'), run('Hangs', 'ERROR')],
  };
  const results = byScenario([batch, second]);

  it('pass a scenario when all of them pass', () => {
    expect(repeatLines(results)).toEqual([
      'Books: 2 of 2 runs passed',
      'Asks <b>"hours"</b> & more: 1 of 2 runs passed',
      'Hangs: 0 of 2 runs passed',
      '1 of 3 scenarios passed in all their runs',
    ]);
    expect([isEnough(results, 33), isEnough(results, 34), isEnough(results, 0)]).toEqual([true, false, true]);
    expect(isEnough([], 0)).toBe(false);
  });

  it('are cases of their own in JUnit XML', () => {
    const xml = junit({ ...batch, runs: [...batch.runs, ...second.runs] }, 'Front desk');
    expect(xml).toContain('<testcase name="Books (run 1)" classname="Front desk"');
    expect(xml).toContain('<testcase name="Books (run 2)" classname="Front desk"');
  });

  it('are annotations without line breaks, in which words of callers are no commands', () => {
    const forged = byScenario([
      { ...batch, runs: [run('A: b, c', 'ERROR', { reason: '100 %\n::set-env name=x::y' })] },
    ]);
    expect(annotations(forged)).toEqual([
      `::error title=Agent test%3A A%3A b%2C c::ERROR%0A100 %25%0A::set-env name=x::y%0Arun ${failed.id}`,
    ]);
    expect(annotations(results)).toHaveLength(2);
  });
});

describe('a load', () => {
  const none = figuresOf([]);
  const figures = {
    ...none,
    calls: 4,
    answered: 4,
    passed: 4,
    set_up_ms: { p50: 80, p95: 90 },
    latency_ms: { ...none.latency_ms, p50: 200, p95: 300 },
    mos: { p50: 4.4, min: 4.2 },
  };
  const level = {
    concurrency: 2,
    simulation_set_id: null,
    began_at: batch.created_at,
    ended_at: batch.completed_at,
    figures,
  };
  const failures = [{ reason: 'The call was <cut>', calls: 1 }];
  const load: Load = {
    id: batch.id,
    status: 'COMPLETED',
    reason: null,
    created_at: batch.created_at,
    completed_at: batch.completed_at,
    levels: [level, { ...level, concurrency: 4, figures: { ...figures, passed: 3, failures } }],
    knee: { concurrency: null, breaks_at: null, because: null, sentence: 'No level is worse.' },
  };

  it('is a table with a line for each level, and the knee', () => {
    expect(loadLines(load)).toEqual([
      'calls     ended       answered    set-up p95  answer p50  answer p95  MOS         passed',
      '2         4           4           90          200         300         4.4         4',
      '4         4           4           90          200         300         4.4         3',
      '    1 call: The call was <cut>',
      'COMPLETED: No level is worse.',
    ]);
  });

  it('is enough when no level breaks, and as many calls of each pass as are wanted', () => {
    expect([isLoadEnough(load, 75), isLoadEnough(load, 76)]).toEqual([true, false]);
    expect(isLoadEnough({ ...load, status: 'CANCELLED' }, 0)).toBe(false);
    const knee = { concurrency: 2, breaks_at: 4, because: 'latency' as const, sentence: 'Slow.' };
    expect(isLoadEnough({ ...load, knee }, 0)).toBe(false);
    expect(loadJunit({ ...load, knee }, 'Front', 0)).toContain('<failure type="LOAD" message="Slow.">');
  });

  it('has a case for each level in JUnit XML', () => {
    const xml = loadJunit(load, 'Front & desk', 100);
    expect(xml).toContain('tests="2" failures="1" errors="0" time="2.000"');
    expect(xml).toContain('<testcase name="2 calls at once" classname="Front &amp; desk" time="2.000"/>');
    expect(xml).toContain(
      '<failure type="LOAD" message="3 of 4 calls passed.">1: The call was &lt;cut&gt;</failure>',
    );
  });

  it('is read from its options', () => {
    const read = (...more: string[]) => {
      const options = readOptions(['--pathway', 'p', ...more], {});
      return options === 'help' ? null : { load: options.load, wait: options.wait };
    };
    expect(read('--ramp', '2:10:4', '--level-runs', '8', '--number', '+14155550100')).toEqual({
      load: { ramp: { from: 2, to: 10, step: 4 }, runs_per_level: 8, phone_number: '+14155550100' },
      wait: true,
    });
    expect(read('--concurrency', '3', '--level-seconds', '30', '--text')?.load).toEqual({
      concurrency: 3,
      seconds_per_level: 30,
      transport: 'text',
    });
    expect(() => read('--ramp', '2:10')).toThrow();
    expect(() => read('--ramp', '1:2:1', '--concurrency', '1')).toThrow();
    expect(() => read('--level-runs', '3')).toThrow();
    expect(() => read('--concurrency', '1', '--repeats', '2')).toThrow();
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
  let client: Trunkline;
  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      asked.push(String(request.url));
      const [status, body] = answers.shift() ?? [500, {}];
      const type =
        request.url?.endsWith('/events') && status === 200 ? 'text/event-stream' : 'application/json';
      response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    client = clientAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'key');
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
    const found = await followed(client, 'b', 60_000);
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
    await expect(followed(client, 'b', 60_000)).rejects.toThrow('BATCH_NOT_FOUND');
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
      repeats: 1,
      failUnder: 100,
      annotations: false,
      json: false,
      load: null,
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
    expect(readOptions(['--pathway', 'p', '--repeats', '3', '--fail-under', '80'], {})).toMatchObject({
      repeats: 3,
      failUnder: 80,
      wait: true,
    });
    expect(readOptions(['--pathway', 'p', '--annotations'], {})).toMatchObject({
      annotations: true,
      wait: true,
    });
    expect(readOptions(['--pathway', 'p', '--json'], {})).toMatchObject({ json: true, wait: true });
    // Without waiting it would succeed whatever fails.
    expect(readOptions(['--pathway', 'p', '--fail-under', '90'], {})).toMatchObject({ wait: true });
    expect(readOptions(['-h'], {})).toBe('help');
  });

  it.each([
    [[], 'exactly one of --pathway and --persona'],
    [['--pathway', 'p', '--persona', 'q'], 'exactly one'],
    [['--pathway', 'p', '--version', 'two'], '--version takes a whole number, not "two"'],
    [['--pathway', 'p', '--repeats', '11'], '--repeats takes a number from 1 to 10, not 11'],
    [['--pathway', 'p', '--fail-under', '101'], '--fail-under takes a number from 0 to 100, not 101'],
    [['--pathway', 'p', '--colour'], "Unknown option '--colour'"],
  ])('%j are refused', (args, why) => {
    expect(() => readOptions(args, {})).toThrow(why);
  });
});
