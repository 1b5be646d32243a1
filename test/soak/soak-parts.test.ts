/** Parts of the soak that need no programs. */
import { describe, expect, test } from 'vitest';
import { Random } from '../simulation/random.ts';
import { Disturbances } from './disturbances.ts';
import { isExcused, Ledger } from './ledger.ts';
import { clear, Link } from './link.ts';
import { readOptions } from './options.ts';
import { amount, plot } from './plot.ts';
import { ProgramLog } from './program-log.ts';
import { restartsOf } from './restarts.ts';
import { readMetrics } from './sampler.ts';
import { Series } from './series.ts';
import { nextSpell } from './weather.ts';

const hourMs = 3_600_000;

describe('the plan of restarts', () => {
  test('restarts each program in an hour, and is the same for the same seed', () => {
    const plan = restartsOf(new Random(4), hourMs);
    expect(restartsOf(new Random(4), hourMs)).toEqual(plan);
    expect(restartsOf(new Random(5), hourMs)).not.toEqual(plan);
    const kinds = new Set(plan.map(({ role, signal }) => `${role} ${signal}`));
    expect(kinds.size).toBe(6);
    expect(plan.every(({ at }) => at > hourMs / 12 && at < hourMs * 0.85)).toBe(true);
  });

  test('leaves half an hour between two in a run of a day', () => {
    const plan = restartsOf(new Random(4), 24 * hourMs);
    expect(plan.length).toBeGreaterThan(30);
    expect(plan.length).toBeLessThan(60);
  });
});

describe('the ledger', () => {
  const fails = () => Promise.reject(new Error('no answer'));

  test('excuses what depends on a disturbed part, and nothing else', async () => {
    let now = 0;
    const disturbances = new Disturbances(() => now);
    const ledger = new Ledger(disturbances);
    const end = disturbances.begin('control');
    now = performance.now();
    await ledger.run('API', ['control'], fails);
    await ledger.run('call', ['edge', 'engine'], fails);
    expect(ledger.kinds.get('API')).toEqual({ made: 1, passed: 0, excused: 1, broken: 0 });
    expect(ledger.kinds.get('call')).toEqual({ made: 1, passed: 0, excused: 0, broken: 1 });
    expect(ledger.broken).toEqual([expect.stringMatching(/call {2}after [\d.]+ s: no answer$/)]);
    end();
    now = Number.MAX_SAFE_INTEGER;
    expect(disturbances.touched(['control'], performance.now() + 1e9)).toBe(false);
  });

  test('excuses the record of a call that stood longer than its script, when it was disturbed', () => {
    let now = 100;
    const disturbances = new Disturbances(() => now);
    const call = { kind: 'vanishes', begun: 0, key: 'a', knownSince: 10, hasTalked: false };
    const ended = { call, needs: ['media worker'] as const, at: 50, excused: false };
    expect(isExcused(ended, 120, disturbances)).toBe(false);
    disturbances.begin('edge')();
    expect(isExcused(ended, 120, disturbances)).toBe(false);
    now = 110;
    disturbances.begin('media worker')();
    expect(isExcused(ended, 120, disturbances)).toBe(true);
    expect(isExcused(ended, 50, disturbances)).toBe(false);
    expect(isExcused({ ...ended, excused: true }, 50, disturbances)).toBe(true);
  });

  test('shows the first broken promises and counts all', () => {
    const ledger = new Ledger(new Disturbances());
    for (let n = 0; n < 150; n++) ledger.breaks(`promise ${n}`);
    expect(ledger.brokenCount).toBe(150);
    expect(ledger.broken).toHaveLength(100);
  });
});

describe('the weather', () => {
  test('is the same for the same seed, and clear most of the time', () => {
    const spells = (seed: number) => {
      const random = new Random(seed);
      return Array.from({ length: 300 }, () => nextSpell(random, 1));
    };
    expect(spells(1)).toEqual(spells(1));
    const names = spells(1).map(({ name }) => name);
    expect(new Set(names)).toEqual(new Set(['clear', 'far', 'lossy', 'jumbled', 'cut']));
    expect(names.filter((name) => name === 'clear').length).toBeGreaterThan(80);
    // Calls survive a cut: it is shorter than the time limit of media.
    const cuts = spells(1).filter(({ name }) => name === 'cut');
    expect(cuts.every(({ lastsMs }) => lastsMs <= 8_000)).toBe(true);
  });

  test('a link passes everything while it is clear and nothing while it is cut', () => {
    const link = new Link(new Random(1));
    let arrived = 0;
    const send = () => link.carry(() => arrived++);
    for (let n = 0; n < 100; n++) send();
    expect(arrived).toBe(100);
    expect(link.segmentDelay()).toBe(0);
    link.conditions = { ...clear, cut: true };
    for (let n = 0; n < 100; n++) send();
    expect(arrived).toBe(100);
    expect(link.segmentDelay()).toBeNull();
    link.conditions = { ...clear, loss: 0.5 };
    for (let n = 0; n < 1000; n++) send();
    expect(arrived).toBeGreaterThan(500);
    expect(arrived).toBeLessThan(700);
  });
});

test('a series keeps a bounded number of samples over its whole length', () => {
  const facts = { group: 'edge', name: 'x', unit: 'count', kind: 'activity', bound: null } as const;
  const series = new Series(facts);
  for (let at = 0; at < 50_000; at++) series.add({ at, calls: at, value: 1, segment: 0, settled: true });
  expect(series.samples.length).toBeLessThan(3_000);
  expect(series.samples.length).toBeGreaterThan(1_000);
  expect(series.samples[0]?.at).toBe(0);
  expect(series.samples.at(-1)?.at).toBeGreaterThan(49_900);
});

test('metrics are read without the label of the edge', () => {
  const text = [
    '# TYPE a untyped',
    'a{edge="4711"} 3',
    'b{edge="4711",reason="x"} 4',
    'c{type="Timeout"} 5',
    'd 6.5',
  ].join('\n');
  expect([...readMetrics(text)]).toEqual([
    ['a', 3],
    ['b{reason="x"}', 4],
    ['c{type="Timeout"}', 5],
    ['d', 6.5],
  ]);
});

test('the log is counted by message, most severe first', () => {
  const log = new ProgramLog();
  log.add('trunkline: edge was killed by SIGKILL; restarting in 0.5 s');
  log.add('{"level":30,"program":"edge","msg":"ready"}');
  for (let n = 0; n < 3; n++) log.add('{"level":40,"program":"edge","msg":"late"}');
  log.add('{"level":60,"program":"control","msg":"fault"}');
  expect(log.counted.map(({ level, message, times }) => [level, message, times])).toEqual([
    ['fatal', 'fault', 1],
    ['warn', 'late', 3],
    ['info', 'ready', 1],
  ]);
});

describe('options', () => {
  test('have defaults', () => {
    expect(readOptions([])).toEqual({ hours: 1, seed: 1, rate: 2, database: null, out: 'soak-report' });
  });

  test.each([
    [['--hours', '0'], '--hours is "0": give a number from 0.01 to 200'],
    [['--rate', 'fast'], '--rate is "fast": give a number from 0.1 to 50'],
    [['--seed', '1.5'], '--seed is not an integer'],
    [['--database', 'mysql://x'], '--database is "mysql://x": give a URL that begins with postgres://'],
  ])('%j is rejected', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });
});

describe('the plot', () => {
  test('draws a line per run of a process, and the restarts', () => {
    const at = (minute: number, value: number, segment: number) => ({
      at: minute * 60_000,
      calls: minute,
      value,
      segment,
      settled: true,
    });
    const svg = plot([at(0, 1, 0), at(5, 2, 0), at(6, 1, 1), at(10, 3, 1)], 'count', [
      { at: 330_000, label: 'edge <SIGKILL>' },
    ]);
    expect(svg.match(/<polyline/g)).toHaveLength(2);
    expect(svg).toContain('<title>edge &lt;SIGKILL&gt;</title>');
    expect(svg).toContain('>10 min</text>');
  });

  test('amounts have a unit that fits', () => {
    expect(amount(1536, 'octets')).toBe('1.5 KiB');
    expect(amount(-3 * 2 ** 20, 'octets')).toBe('-3 MiB');
    expect(amount(12.345, 'count')).toBe('12.3');
    expect(amount(5, 'octets')).toBe('5 B');
  });
});
