import { describe, expect, it } from 'vitest';
import type { Finding } from '../analysis/finding.ts';
import type { Fix } from './fixes.ts';
import { bestIteration, type ScenarioOutcome, unfixableIds } from './outcome.ts';
import { type built, needsPlan, review } from './review.ts';
import { iterationsOf, type SessionState, targetedBy } from './state.ts';

const base = {
  nodes: ['start', 'left', 'right'].map((id) => ({
    id,
    type: 'Default',
    data: { name: id, text: `This is ${id}.`, isStart: id === 'start' },
  })),
  edges: [],
};
const words = (node: string, text: string) =>
  ({ kind: 'set_words', node, member: 'text', words: text }) as const;
const fix = (number: number, node: string, scenarios: readonly string[], text = 'Better.'): Fix => ({
  id: `fix-00${number}`,
  edit: words(node, text),
  description: 'Because.',
  confidence: 0.9,
  scenarios,
});
const finding = (node: string, text: string, confidence = 0.9): Finding => ({
  cause: 'prompt',
  type: 'prompt_change',
  nodeId: node,
  description: 'Wrong words.',
  suggestedChange: text,
  confidence,
  edit: words(node, text),
});
const passed = (...visited: string[]): ScenarioOutcome => ({
  status: 'PASSED',
  score: 1,
  failure: null,
  visited,
});
const failed = (score: number, ...visited: string[]): ScenarioOutcome => ({
  status: 'FAILED',
  score,
  failure: `check at ${visited.at(-1)}`,
  visited,
});
const state = (more: Partial<SessionState>): SessionState => ({
  base,
  forks: [{ version: 1, fixes: [] }],
  outcomes: [],
  tried: [],
  numbered: 0,
  unfixable: [],
  ...more,
});
const accepts = () => true;
const textOf = ({ nodes }: ReturnType<typeof built>, wanted: string) =>
  nodes.flatMap(({ data, id }) => (id === wanted ? [(data as { text: string }).text] : []))[0];

describe('a review', () => {
  it('plans from the failures, numbers the fixes, and builds the next graph', () => {
    const first = state({
      outcomes: [
        [
          ['a', failed(0, 'start', 'left')],
          ['b', passed('start')],
        ],
      ],
    });
    expect(needsPlan(first)).toEqual(['a']);
    const made = review(
      first,
      [{ scenarioId: 'a', findings: [finding('left', 'One.'), finding('left', 'Two.', 0.8)] }],
      accepts,
    );
    expect(made.fixes).toMatchObject([{ id: 'fix-001', edit: { words: 'One.' }, scenarios: ['a'] }]);
    expect(made.skipped).toMatchObject([{ id: 'fix-002', edit: { words: 'Two.' } }]);
    expect(textOf(made.graph, 'left')).toBe('One.');
    expect(textOf(made.best, 'left')).toBe('This is left.');
  });

  it('reverts the fixes on nodes that a broken run has visited, and keeps the others', () => {
    const [left, right] = [fix(1, 'left', ['a']), fix(2, 'right', ['b'])];
    const broken = state({
      forks: [
        { version: 1, fixes: [] },
        { version: 2, fixes: [left, right] },
      ],
      outcomes: [
        [
          ['a', failed(0, 'start', 'left')],
          ['b', failed(0, 'start', 'right')],
          ['c', passed('start', 'left')],
        ],
        [
          ['a', failed(0.5, 'start', 'left')],
          ['b', passed('start', 'right')],
          ['c', failed(0, 'start', 'left')],
        ],
      ],
      numbered: 2,
    });
    // A failure caused by a fix is fixed by leaving it out.
    expect(needsPlan(broken)).toEqual(['a']);
    const made = review(broken, [{ scenarioId: 'a', findings: [finding('left', 'Better.')] }], accepts);
    expect(made.reverted).toEqual([left]);
    expect(made.fixes).toEqual([right]);
    expect([textOf(made.graph, 'left'), textOf(made.graph, 'right')]).toEqual(['This is left.', 'Better.']);
  });

  it('reverts the whole plan when no fix is on the path of the broken run', () => {
    const [left, right] = [fix(1, 'left', ['a']), fix(2, 'right', ['a'])];
    const broken = state({
      forks: [
        { version: 1, fixes: [] },
        { version: 2, fixes: [left, right] },
      ],
      outcomes: [
        [
          ['a', failed(0, 'start', 'left')],
          ['c', passed('start')],
        ],
        [
          ['a', passed('start', 'left')],
          ['c', failed(0, 'start')],
        ],
      ],
    });
    const made = review(broken, [], accepts);
    expect(made.reverted).toEqual([left, right]);
    expect(made.fixes).toEqual([]);
  });

  it('drops a fix without effect, and does not retry it', () => {
    const left = fix(1, 'left', ['a'], 'One.');
    const same = [['a', failed(0, 'start', 'left')]] as const;
    const idle = state({
      forks: [
        { version: 1, fixes: [] },
        { version: 2, fixes: [left] },
      ],
      outcomes: [same, same],
      numbered: 1,
    });
    const findings = [finding('left', 'One.'), finding('left', 'Two.', 0.6)];
    const made = review(idle, [{ scenarioId: 'a', findings }], accepts);
    expect(made.reverted).toEqual([left]);
    expect(made.fixes).toMatchObject([{ id: 'fix-002', edit: { words: 'Two.' } }]);
    expect(review(idle, [{ scenarioId: 'a', findings: [finding('left', 'One.')] }], accepts).fixes).toEqual(
      [],
    );
  });

  it('skips fixes that break the rules of graphs', () => {
    const first = state({ outcomes: [[['a', failed(0, 'start')]]] });
    const made = review(first, [{ scenarioId: 'a', findings: [finding('left', 'One.')] }], () => false);
    expect([made.fixes, made.skipped.length]).toEqual([[], 1]);
  });
});

describe('the best iteration', () => {
  it('is the one with most passed, then the highest mean score, then the earliest', () => {
    const of = (...outcomes: ScenarioOutcome[]) =>
      new Map(outcomes.map((outcome, index) => [String(index), outcome]));
    const one = of(passed('a'), failed(0.2, 'a'));
    const higher = of(passed('a'), failed(0.3, 'a'));
    expect(bestIteration([one, higher, one])).toBe(1);
    expect(bestIteration([of(failed(0.9, 'a'), failed(0.9, 'a')), one, one])).toBe(1);
    expect(bestIteration([])).toBe(-1);
  });
});

describe('an unfixable scenario', () => {
  const targeted = state({
    forks: [
      { version: 1, fixes: [] },
      { version: 2, fixes: [fix(1, 'left', ['a'])] },
      { version: 3, fixes: [fix(1, 'left', ['a']), fix(2, 'right', ['b'])] },
    ],
    outcomes: [0.1, 0.2, 0.3].map((score) => [
      ['a', failed(score, 'start', 'left')],
      ['b', failed(score, score > 0.2 ? 'right' : 'left')],
      ['c', failed(score, 'start')],
    ]),
  });

  it('fails three times in a row at the same assertion and node although a fix targeted it', () => {
    expect(unfixableIds(iterationsOf(targeted), targetedBy(targeted))).toEqual(['a']);
  });

  it('does not exist after two iterations', () => {
    const two = { ...targeted, outcomes: targeted.outcomes.slice(0, 2) };
    expect(unfixableIds(iterationsOf(two), targetedBy(two))).toEqual([]);
  });
});
