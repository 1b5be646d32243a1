import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GraphNode, loadGraph } from './graph.ts';
import type { Option } from './interfaces.ts';
import { valueOfKeys } from './key-values.ts';
import { chooseByKeys, KeyCollector, type KeyPlan, keyPlan, keysInSpeech, namedKeys } from './keys.ts';
import { roleOf } from './special-edges.ts';

const way = (label: string, description = '', global = false): Option => ({
  label,
  description,
  target: 't',
  global,
});
const nodeOf = (data: object): GraphNode =>
  loadGraph([{ id: 'n', type: 'Default', data: { isStart: true, ...data } }], []).start;

describe('the keys named by an edge', () => {
  it.each<[string, string[]]>([
    ['1', ['1']],
    ['#', ['#']],
    ['12', ['12']],
    ['one', ['1']],
    ['star', ['*']],
    ['1 or 2', ['1', '2']],
    ['1, 2, or 3', ['1', '2', '3']],
    ['1: Billing', ['1']],
    ['2 - Support', ['2']],
    ['3) Sales', ['3']],
    ['4. Returns', ['4']],
    ['# for the menu', ['#']],
    ['press 1', ['1']],
    ['Press One for billing', ['1']],
    ['For billing, press 1', ['1']],
    ['key 1', ['1']],
    ['User pressed 0', ['0']],
    ['caller presses the pound key', ['#']],
    ['dial *9', ['*9']],
    ['press "5"', ['5']],
    ['press 1 or press 2', ['1', '2']],
    ['option 3', ['3']],
    ['Billing', []],
    ['the 2 week plan', []],
    ['2 weeks', []],
    ['orders 1.5 kg', []],
    ['', []],
  ])('"%s"', (label, keys) => {
    expect(namedKeys(way(label))).toEqual({ sequences: keys, any: false });
  });

  it('come from the description when the label names none, and there only after a verb', () => {
    expect(namedKeys(way('Billing', 'the caller pressed 1')).sequences).toEqual(['1']);
    expect(namedKeys(way('Billing', '2 - weeks')).sequences).toEqual([]);
    expect(namedKeys(way('1', 'press 2')).sequences).toEqual(['1']);
  });

  it('include "any key"', () => {
    expect(namedKeys(way('press any key'))).toEqual({ sequences: [], any: true });
  });

  it.each([
    ['1', '1'],
    ['one.', '1'],
    ['I pressed two', '2'],
    ['number 3', '3'],
    ['1234', '1234'],
    ['one moment', null],
    ['I want 2', null],
  ])('reads "%s" as the keys %s', (text, keys) => {
    expect(keysInSpeech(text)).toBe(keys);
  });
});

describe('special labels', () => {
  it.each([
    ['Default', 'default'],
    ['otherwise', 'default'],
    ['no input', 'no_input'],
    ['On timeout', 'no_input'],
    ['No-Input', 'no_input'],
    ['invalid', 'invalid'],
    ['if failed', 'failure'],
    ['Success', 'success'],
    ['the caller has no input to give', 'regular'],
    ['', 'regular'],
  ])('"%s" is %s', (label, role) => {
    expect(roleOf(way(label))).toBe(role);
  });
});

describe('choosing an edge by keys', () => {
  it('takes the first option that names the keys, own edges before global ones', () => {
    const ways = [way('press 1'), way('press 2'), way('press 2', '', true), way('press 0', '', true)];
    const [one, two, , zero] = ways;
    expect(['1', '2', '0', '3'].map((keys) => chooseByKeys(keys, ways))).toEqual([one, two, zero, null]);
  });

  it('takes "any key" only when no option names the key', () => {
    const ways = [way('press any key'), way('press 2')];
    expect(['2', '7'].map((keys) => chooseByKeys(keys, ways))).toEqual(ways.toReversed());
  });
});

describe('the key plan of a node', () => {
  it('accepts one key at once in a menu', () => {
    expect(keyPlan(nodeOf({}), [way('press 1'), way('#'), way('no input')])).toEqual({
      sequences: ['1', '#'],
      maxDigits: 1,
      terminator: null,
      interDigitMs: 3000,
    });
  });

  it('collects up to 32 keys for a variable', () => {
    const node = nodeOf({ extractVars: [['pin', 'string', 'PIN']] });
    expect(keyPlan(node, [way('entered')])).toEqual({
      sequences: [],
      maxDigits: 32,
      terminator: '#',
      interDigitMs: 3000,
    });
  });

  it('is a menu when every edge names a key, even with variables', () => {
    const node = nodeOf({ extractVars: [['choice', 'string', 'the choice']] });
    expect(keyPlan(node, [way('1'), way('2'), way('timeout')]).maxDigits).toBe(1);
  });

  it("follows the node's settings", () => {
    const node = nodeOf({
      extractVars: [['pin', 'string', '']],
      dtmf: { maxDigits: 4, terminator: '*', timeoutMs: 500 },
    });
    expect(keyPlan(node, [])).toEqual({ sequences: [], maxDigits: 4, terminator: '*', interDigitMs: 500 });
    expect(keyPlan(nodeOf({ dtmf: { maxDigits: 4, terminator: null } }), []).terminator).toBeNull();
  });
});

describe('collecting keys', () => {
  const plan: KeyPlan = { sequences: [], maxDigits: 6, terminator: '#', interDigitMs: 3000 };
  const typed = (keys: string, with_: Partial<KeyPlan> = {}) => {
    const collector = new KeyCollector({ ...plan, ...with_ });
    return { entries: [...keys].map((key) => collector.press(key)), rest: collector.timeout() };
  };

  it.each<[string, string, Partial<KeyPlan>, (string | null)[], string | null]>([
    ['ends at the terminator', '12#', {}, [null, null, '12'], null],
    ['ends at the longest length', '123', { maxDigits: 2 }, [null, '12', null], '3'],
    ['ends at the time-out', '12', {}, [null, null], '12'],
    ['accepts a terminator alone as a key', '#', {}, ['#'], null],
    ['ends at a named sequence', '12', { sequences: ['12'], maxDigits: 3 }, [null, '12'], null],
    ['waits when a longer sequence may follow', '1', { sequences: ['1', '12'], maxDigits: 3 }, [null], '1'],
    ['accepts # as a key when there is no terminator', '#', { terminator: null, maxDigits: 1 }, ['#'], null],
  ])('%s', (_rule, keys, with_, entries, rest) => {
    expect(typed(keys, with_)).toEqual({ entries, rest });
  });

  it('neither loses nor adds keys', () => {
    const keys = fc.string({ unit: fc.constantFrom(...'0123456789*'), maxLength: 40 });
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 8 }), (text, maxDigits) => {
        const { entries, rest } = typed(text, { maxDigits });
        expect([...entries, rest].filter((entry) => entry !== null).join('')).toBe(text);
      }),
    );
  });
});

it.each([
  ['007', 'string', '007'],
  ['007', 'integer', 7],
  ['1*5', 'number', 1.5],
  ['1*5', 'integer', undefined],
  ['1', 'boolean', true],
  ['2', 'boolean', false],
  ['3', 'boolean', undefined],
  ['20260131', 'date', '2026-01-31'],
  ['01312026', 'date', '2026-01-31'],
  ['20260231', 'date', undefined],
  ['3112', 'date', undefined],
] as const)('the keys %s for a variable of type %s are %s', (keys, type, value) => {
  expect(valueOfKeys(keys, type)).toBe(value);
});
