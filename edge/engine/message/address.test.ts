import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAddress, parameter, parseAddress, setParameter, splitList, tagOf } from './address.ts';

describe('parseAddress', () => {
  test.each([
    ['sip:a@b', undefined, 'sip:a@b', []],
    ['<sip:a@b;lr>', undefined, 'sip:a@b;lr', []],
    ['Bob Jones <sip:a@b>;tag=1', 'Bob Jones', 'sip:a@b', [['tag', '1']]],
    [
      '"Bob, \\"x\\" <y>" <sip:a@b> ; tag = 1;lr',
      'Bob, "x" <y>',
      'sip:a@b',
      [
        ['tag', '1'],
        ['lr', null],
      ],
    ],
    [
      'sip:a@b;Tag=1;x="a;b"',
      undefined,
      'sip:a@b',
      [
        ['tag', '1'],
        ['x', '"a;b"'],
      ],
    ],
    ['sip:a@b;x="<c>"', undefined, 'sip:a@b', [['x', '"<c>"']]],
    ['J\xf6rg <tel:+1>', 'J\xf6rg', 'tel:+1', []],
    ['"" <sip:a@b>', '', 'sip:a@b', []],
  ] as const)('reads %s', (text, displayName, uri, params) => {
    expect(parseAddress(text)).toEqual({ displayName, uri, params: new Map(params) });
  });

  test.each([
    '',
    '*',
    'bob',
    '"Bob <sip:a@b>',
    '"Bob" sip:a@b',
    'Bob, J. <sip:a@b>',
    'B@b <sip:a@b>',
    '<sip:a@b',
    '< sip:a@b>',
    '<sip:a@b >',
    '<bob>',
    '<>',
    'sip:a@b?x=y',
    'sip:a@b,sip:c@d',
    '<sip:a@b>x',
    '<sip:a@b>;',
    '<sip:a@b>;;tag=1',
    '<sip:a@b>;tag=',
    '<sip:a@b>;tag=1;tag=2',
    '<sip:a@b>;x="y',
  ])('rejects %j', (text) => expect(parseAddress(text)).toBeNull());
});

test('formatAddress quotes the name and writes parameters', () => {
  const text = formatAddress({
    displayName: 'Bob "x" \\',
    uri: 'sip:a@b',
    params: new Map([
      ['tag', '1'],
      ['lr', null],
    ]),
  });
  expect(text).toBe('"Bob \\"x\\" \\\\" <sip:a@b>;tag=1;lr');
  expect(parseAddress(text)?.displayName).toBe('Bob "x" \\');
  expect(formatAddress({ uri: 'sip:a@b' })).toBe('<sip:a@b>');
});

test.each([
  ['', []],
  [' one ', ['one']],
  ['a, b ,c', ['a', 'b', 'c']],
  ['"a,b" <sip:x>, <sip:y,z>;q=1', ['"a,b" <sip:x>', '<sip:y,z>;q=1']],
  ['"a\\",b", c', ['"a\\",b"', 'c']],
  ['a,,b,', ['a', 'b']],
  ['"open, a', ['"open, a']],
])('splitList(%j)', (value, elements) => expect(splitList(value)).toEqual(elements));

test.each([
  ['<sip:a@b;tag=in>;tag=out', 'tag', 'out'],
  ['sip:a@b;tag=x', 'tag', 'x'],
  ['"q;tag=no" <sip:a>; TAG = y ;z', 'tag', 'y'],
  ['<sip:a>;lr', 'lr', ''],
  ['<sip:a>;xtag=1', 'tag', undefined],
  ['<sip:a>;e="a;b"', 'e', '"a;b"'],
  ['<sip:a>, <sip:b>;tag=2', 'tag', undefined],
  ['"open;tag=1', 'tag', undefined],
  ['<sip:a>;x=<;tag=1', 'tag', '1'],
  ['<sip:a>;x=<y;tag=1;z=>', 'tag', '1'],
  ['sip:a;x=<>;tag=1', 'tag', '1'],
])('parameter(%j, %s)', (value, name, expected) => expect(parameter(value, name)).toBe(expected));

test('parameter and parseAddress read the same in whatever can be parsed', () => {
  const parts = ['tag', 'x', 'lr', '=', ';', '<', '>', '"', '\\', ',', ' ', '1', 'sip:a'];
  const parameters = fc.array(fc.constantFrom(...parts), { maxLength: 14 }).map((all) => all.join(''));
  fc.assert(
    fc.property(
      fc.constantFrom('sip:a', '<sip:a>', '"q;<" <sip:a>', 'B <sip:a;tag=u>'),
      parameters,
      (uri, text) => {
        const value = `${uri};tag=1;x${text}`;
        const params = parseAddress(value)?.params;
        for (const [name, read] of params ?? []) expect(parameter(value, name)).toBe(read ?? '');
        if (params) expect(parameter(value, 'none')).toBeUndefined();
      },
    ),
    { numRuns: 3000 },
  );
});

test('setParameter replaces in place, appends, and removes', () => {
  expect(setParameter('<sip:a>;tag=1;x', 'tag', '2')).toBe('<sip:a>;tag=2;x');
  expect(setParameter('<sip:a>', 'tag', '2')).toBe('<sip:a>;tag=2');
  expect(setParameter('SIP/2.0/TLS a;rport;branch=b', 'rport', '5061')).toBe(
    'SIP/2.0/TLS a;rport=5061;branch=b',
  );
  expect(setParameter('<sip:a>;tag = "q;r" ;x', 'tag', undefined)).toBe('<sip:a> ;x');
  expect(setParameter('<sip:a>', 'lr', null)).toBe('<sip:a>;lr');
  expect(setParameter('SIP/2.0/TLS a;x=<;rport', 'rport', '5061')).toBe('SIP/2.0/TLS a;x=<;rport=5061');
});

test('tagOf treats an empty tag as missing', () => {
  expect(tagOf('<sip:a>;tag=x')).toBe('x');
  expect(tagOf('<sip:a>;tag')).toBeUndefined();
  expect(tagOf('<sip:a>')).toBeUndefined();
});
