import { expect, it } from 'vitest';
import { visitsOf, wayKey, wayUntil } from './replay.ts';

const line = (text: string, node_id: string | null) => ({
  role: 'assistant',
  text,
  node_id,
  node_name: node_id === null ? null : `The ${node_id}`,
  created_at: '2030-01-01T00:00:00.000Z',
});

const lines = [
  line('No speech recognition', null),
  line('Hello', 'menu'),
  line('Pressed 1', null),
  line('key 1 follows an edge', 'menu'),
  line('Enter your number', 'account'),
  line('Hello again', 'menu'),
];

it('gives each stay in a node the lines that were written there', () => {
  expect(visitsOf(lines).map(({ node, name, lines: said }) => [node, name, said.length])).toEqual([
    ['menu', 'The menu', 3],
    ['account', 'The account', 1],
    ['menu', 'The menu', 1],
  ]);
});

it('shows the way up to a step, and no further', () => {
  const visits = visitsOf(lines);
  const way = wayUntil(visits, 1);
  expect(way.current).toBe('account');
  expect([...way.steps]).toEqual([
    ['menu', [1]],
    ['account', [2]],
  ]);
  expect([...way.followed]).toEqual([wayKey('menu', 'account')]);
  expect(wayUntil(visits, 2).steps.get('menu')).toEqual([1, 3]);
});

it('has no way when nothing was said in a node', () => {
  expect(wayUntil(visitsOf([line('No answer', null)]), 0)).toEqual({
    current: null,
    steps: new Map(),
    followed: new Set(),
  });
});
