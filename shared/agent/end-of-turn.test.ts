import { describe, expect, it } from 'vitest';
import { pauseFor, pauses, turnPlan } from './end-of-turn.ts';
import { loadGraph } from './graph.ts';
import { optionsOf } from './node-options.ts';
import { anyTurn, type TurnPlan } from './turn-plan.ts';

const menu: TurnPlan = {
  ...anyTurn,
  expects: 'choice',
  choices: ['press 1 for billing', '1', 'support', '2'],
};
const yesNo: TurnPlan = { ...anyTurn, expects: 'yes_no' };
const anyDigits: TurnPlan = { ...anyTurn, expects: 'digits' };
const fourDigits: TurnPlan = { ...anyDigits, digits: 4 };

describe('the pause that ends a turn', () => {
  it.each([
    ['Billing please.', menu, pauses.answered],
    ['one', menu, pauses.answered],
    ['The other thing', menu, pauses.words],
    ['Yes, please.', yesNo, pauses.answered],
    ['Yes, but', yesNo, pauses.open],
    ['I need a new card.', anyTurn, pauses.sentence],
    ['Is it open?', anyTurn, pauses.sentence],
    ['I need a new card', anyTurn, pauses.words],
    ['I need a new card and', anyTurn, pauses.open],
    ['I would like to.', anyTurn, pauses.open],
    ['On Monday,', anyTurn, pauses.open],
    ['Well... um', anyTurn, pauses.open],
    ['four seven one', fourDigits, pauses.fewerDigits],
    ['It is four seven one one.', fourDigits, pauses.allDigits],
    ['47 11', fourDigits, pauses.allDigits],
    ['four seven', anyDigits, pauses.someDigits],
    ['My number is four seven one', anyTurn, pauses.someDigits],
    ['two', anyTurn, pauses.words],
    ['', anyTurn, pauses.unknown],
    [null, anyTurn, pauses.unknown],
    [null, menu, pauses.unknown],
    [null, anyDigits, pauses.fewerDigits],
    ['Yes.', { ...yesNo, pauseMs: 1234 }, 1234],
    [null, { ...anyDigits, pauseMs: 250 }, 250],
  ] as const)('%j', (words, plan, ms) => {
    expect(pauseFor(words, plan)).toBe(ms);
  });
});

describe('the plan of a node', () => {
  const plan = (data: object, ...labels: string[]) => {
    const nodes = [
      { id: 'a', type: 'Default', data: { isStart: true, text: 'Hello', ...data } },
      { id: 'b', type: 'End Call', data: {} },
    ];
    const edges = labels.map((label) => ({ source: 'a', target: 'b', data: { label } }));
    const graph = loadGraph(nodes, edges);
    return turnPlan(graph.start, optionsOf(graph, graph.start));
  };

  it('expects a choice where every edge names keys, and anything elsewhere', () => {
    expect(plan({}, 'press 1', '2: Sales')).toEqual({
      ...anyTurn,
      expects: 'choice',
      choices: ['press 1', '1', '2: Sales', '2'],
    });
    expect(plan({}, 'press 1', 'wants help').expects).toBe('any');
    expect(plan({ extractVars: [['n', 'integer', 'a number']] }, 'press 1').expects).toBe('any');
    expect(plan({}).expects).toBe('any');
  });

  it("follows the author's settings", () => {
    expect(
      plan({ endOfTurn: { expects: 'digits', pauseMs: 900 }, dtmf: { maxDigits: 6 } }, 'next'),
    ).toMatchObject({
      expects: 'digits',
      digits: 6,
      pauseMs: 900,
    });
  });
});

it.each([
  [
    { expects: 'letters' },
    '/nodes/0/data/endOfTurn/expects',
    'expects is one of: any, choice, yes_no, digits',
  ],
  [{ pauseMs: 199 }, '/nodes/0/data/endOfTurn/pauseMs', 'pauseMs is a whole number from 200 to 5000'],
  [{ pauseMs: 5001 }, '/nodes/0/data/endOfTurn/pauseMs', 'pauseMs is a whole number from 200 to 5000'],
  ['soon', '/nodes/0/data/endOfTurn', 'endOfTurn must be an object'],
])('rejects the settings %j', (endOfTurn, path, message) => {
  const node = { id: 'a', type: 'Default', data: { isStart: true, text: 'Hello', endOfTurn } };
  const load = () => loadGraph([node], []);
  expect(load).toThrow();
  try {
    load();
  } catch (error) {
    expect(JSON.stringify(error)).toContain(path);
    expect(String(error) + JSON.stringify(error)).toContain(message);
  }
});
