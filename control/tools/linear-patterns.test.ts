import { describe, expect, it } from 'vitest';
import { isSteadySchema, patternProblem, withLinearPatterns } from './linear-patterns.ts';
import { violations } from './validate.ts';

const of = (pattern: string) => ({ type: 'object', properties: { a: { type: 'string', pattern } } });
const found = (pattern: string, a: string) => violations(withLinearPatterns(of(pattern)), { a }, 1000);

describe('a pattern of a customer’s schema', () => {
  it.each([
    ['^[A-Z]{2}\\d+$', 'CH12', true],
    ['^[A-Z]{2}\\d+$', 'ch12', false],
    ['^\\u00e9+$', 'éé', true],
    ['^(?<year>\\d{4})$', '2024', true],
    ['^\\p{L}+$', 'Zürich', true],
    ['b', 'abc', true],
  ])('%s matches %s: %s', (pattern, text, fits) => {
    expect(isSteadySchema(of(pattern))).toBe(true);
    expect(found(pattern, text)).toEqual(
      fits ? [] : [{ path: '/a', rule: expect.stringContaining(pattern) }],
    );
  });

  it('with endless backtracking elsewhere is checked in linear time', () => {
    expect(found('^(a+)+$', `${'a'.repeat(10_000)}!`)).toHaveLength(1);
    expect(found('^(a+)+$', 'a'.repeat(10_000))).toEqual([]);
  });

  it.each(['(?=a)b', '(?<!a)b', '(a)\\1'])('%s is rejected, because RE2 does not support it', (pattern) => {
    expect(patternProblem(pattern)).toMatch(/without look-around/);
    expect(isSteadySchema(of(pattern))).toBe(false);
  });

  it.each(['(', '[', 'a{2,1}'])('%s is not a pattern', (pattern) => {
    expect(patternProblem(pattern)).toBe('must be a regular expression');
  });

  it('is not applied to property names, whose expressions run in the threads', () => {
    expect(isSteadySchema({ type: 'object', patternProperties: { '^a': {} } })).toBe(false);
    expect(isSteadySchema({ type: 'object', properties: { pattern: { type: 'string' } } })).toBe(true);
  });
});
