import { describe, expect, it } from 'vitest';
import { scenarioStatistics } from '../../records/set-rules.ts';
import { cellsOf, differenceOf, firstBreak, type MeasuredCell, matrixStatus } from './rules.ts';

/** Of so many runs, the first of which passed. */
const statistics = (passed: number, total: number, distinct = total) =>
  scenarioStatistics(
    { id: 's', name: 'S' },
    Array.from({ length: total }, (_, index) => ({
      id: `run ${index}`,
      status: index < passed ? ('PASSED' as const) : ('FAILED' as const),
      score: index < passed ? 1 : 0,
      conversation: String(index % distinct),
      usage: null,
      results: [{ assertion_id: 'a', type: 'NODE_REACHED' as const, name: 'Booked', passed: index < passed }],
    })),
  );
const cell = (
  weather: string,
  voice: string,
  passed: number,
  total = 20,
  distinct = total,
): MeasuredCell => ({
  cell: { version: null, voice, weather },
  simulation_set_id: `${weather} ${voice}`,
  status: 'PASSED',
  statistics: statistics(passed, total, distinct),
});

describe('the difference of a cell from the first one', () => {
  // Newcombe, Statistics in Medicine 17 (1998) 873-890, table II, method 10: 56/70 − 48/80, with z = 1.96.
  it('matches the published interval', () => {
    expect(differenceOf(statistics(56, 70), statistics(48, 80))).toEqual({
      value: 0.2,
      interval: { low: 0.0524, high: 0.3339 },
    });
  });

  it('has as many samples as there are different conversations', () => {
    // By hand: as 4 of 5 and 3 of 5; Wilson .3755 to .9638 and .2307 to .8824.
    expect(differenceOf(statistics(80, 100, 5), statistics(60, 100, 5))).toEqual({
      value: 0.2,
      interval: { low: -0.3098, high: 0.604 },
    });
    expect(differenceOf(statistics(100, 100, 1), statistics(0, 100, 1))).toEqual({
      value: 1,
      interval: null,
    });
    expect(differenceOf(statistics(0, 0), statistics(1, 1))).toBeNull();
  });
});

describe('what breaks first', () => {
  it('is the first cell in which one thing differs, before those in which several do', () => {
    const cells = [
      cell('calm', 'slt', 20),
      cell('street', 'slt', 19),
      cell('storm', 'awb', 0),
      cell('loss', 'slt', 4),
      cell('calm', 'awb', 3),
    ];
    expect(firstBreak(cells)).toEqual({
      simulation_set_id: 'loss slt',
      axis: 'weather',
      value: 'weather loss',
      difference: -0.8,
      failure_mode: 'NODE_REACHED:Booked: 16 of 20',
      run_id: 'run 4',
    });
  });

  it('is a combination when only that breaks, and nothing without a certain difference', () => {
    expect(firstBreak([cell('calm', 'slt', 20), cell('storm', 'awb', 0)])).toMatchObject({
      axis: 'combination',
      value: 'voice awb, weather storm',
    });
    expect(firstBreak([cell('calm', 'slt', 20), cell('loss', 'slt', 18)])).toBeNull();
    expect(firstBreak([cell('calm', 'slt', 20, 20, 1), cell('loss', 'slt', 0, 20, 1)])).toBeNull();
  });
});

it('the cells are all combinations in the order of the request', () => {
  expect(cellsOf([1, 2], [null], ['calm', 'loss'])).toEqual([
    { version: 1, voice: null, weather: 'calm' },
    { version: 1, voice: null, weather: 'loss' },
    { version: 2, voice: null, weather: 'calm' },
    { version: 2, voice: null, weather: 'loss' },
  ]);
});

it.each([
  [['PENDING', 'PENDING'], 'PENDING'],
  [['PENDING', 'PASSED'], 'RUNNING'],
  [['PASSED', 'ERROR', 'FAILED'], 'FAILED'],
  [['PASSED', 'PASSED'], 'PASSED'],
] as const)('cells with %j are together %s', (cells, status) => {
  expect(matrixStatus(cells)).toBe(status);
});
