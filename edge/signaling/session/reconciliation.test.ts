import { expect, it } from 'vitest';
import { Reconciliation } from './reconciliation.ts';

const settled = { settled: true };
const unsettled = { settled: false };

it('finds what is missing on either side twice in a row', () => {
  const reconciliation = new Reconciliation<{ settled: boolean }>();
  const compare = () =>
    reconciliation.compare(
      ['b', 'x'],
      [
        ['a', settled],
        ['b', settled],
      ],
    );
  expect(compare()).toEqual({ lost: [], unowned: [] });
  expect(compare()).toEqual({ lost: [settled], unowned: ['x'] });
});

it('gives a message in transit time to arrive', () => {
  const reconciliation = new Reconciliation<{ settled: boolean }>();
  reconciliation.compare(['x'], [['a', settled]]);
  expect(reconciliation.compare(['a'], [['a', settled]])).toEqual({ lost: [], unowned: [] });
  expect(reconciliation.compare(['x'], [['a', settled]])).toEqual({ lost: [], unowned: [] });
  reconciliation.forget();
  expect(reconciliation.compare(['x'], [['a', settled]])).toEqual({ lost: [], unowned: [] });
});

it('does not expect a dialog for a call that is unanswered or ending', () => {
  const reconciliation = new Reconciliation<{ settled: boolean }>();
  for (let i = 0; i < 2; i++)
    expect(reconciliation.compare([], [['a', unsettled]])).toEqual({ lost: [], unowned: [] });
});
