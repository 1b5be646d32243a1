import { expect, test } from 'vitest';
import { COMPACT_FORMS, HeaderList, headerKey, knownName, USUAL_NAMES } from './headers.ts';

function lines(headers: HeaderList): string[] {
  return Array.from({ length: headers.length }, (_, i) => `${headers.nameAt(i)}: ${headers.valueAt(i)}`);
}

function sample(): HeaderList {
  return new HeaderList([
    ['v', 'one'],
    ['To', 'bob'],
    ['VIA', 'two'],
    ['X-Note', 'n'],
  ]);
}

test('finds a header by its long name, in any form and case', () => {
  const headers = sample();
  expect(headers.get('via')).toBe('one');
  expect(headers.all('via')).toEqual(['one', 'two']);
  expect(headers.has('x-note')).toBe(true);
  expect(headers.get('from')).toBeUndefined();
  expect(headers.all('from')).toEqual([]);
});

test('recognizes each compact form in both cases', () => {
  for (const [short, long] of COMPACT_FORMS) {
    expect(headerKey(short)).toBe(long);
    expect(headerKey(short.toUpperCase())).toBe(long);
  }
  expect(headerKey('z')).toBe('z');
});

test('recognizes a usual name within a text, only where it is all of the name', () => {
  for (const name of [...USUAL_NAMES, ...COMPACT_FORMS.keys()]) {
    expect(knownName(`x${name}y`, 1, 1 + name.length)).toEqual({ name, key: headerKey(name) });
    expect(knownName(`x${name}y`, 1, 2 + name.length)).toBeNull();
    expect(knownName(`x${name}y`, 0, 1 + name.length)).toBeNull();
  }
  expect(knownName('CALL-ID: a', 0, 7)).toBeNull();
});

test('what was read from a field is read again after each kind of change', () => {
  const address = (n: number) => `<sip:user${n}@host>;tag=t${n}`;
  const changes: ((headers: HeaderList, name: string) => void)[] = [
    (headers, name) => headers.set(name, address(2)),
    (headers, name) => headers.replaceFirst(name, address(2)),
    (headers, name) => headers.prepend(name, address(2)),
    (headers, name) => headers.removeFirst(name),
  ];
  for (const change of changes) {
    const headers = new HeaderList(
      ['From', 'To', 'Contact'].flatMap((name) => [
        [name, address(1)],
        [name, address(2)],
      ]),
    );
    for (const key of ['from', 'to', 'contact'] as const) {
      expect(headers[key]?.uri).toBe('sip:user1@host');
      change(headers, key);
      expect(headers[key]?.uri).toBe('sip:user2@host');
    }
    expect([headers.fromTag, headers.toTag]).toEqual(['t2', 't2']);
  }
});

test('the tag of a field is the same before and after its address was read, also of a malformed one', () => {
  for (const value of [
    '<sip:a@b>;tag=x',
    '"q;tag=n" <sip:a@b>;x=1;TAG=x',
    'sip:a@b;tag=x',
    '<sip:a@b;tag=x',
    '',
  ]) {
    const text = new HeaderList([['From', value]]).fromTag;
    const headers = new HeaderList([['From', value]]);
    void headers.from;
    expect(headers.fromTag).toBe(text);
  }
});

test('set replaces the first line and removes the others', () => {
  const headers = sample();
  headers.set('Via', 'three');
  expect(lines(headers)).toEqual(['Via: three', 'To: bob', 'X-Note: n']);
  headers.set('From', 'alice');
  expect(lines(headers)).toEqual(['Via: three', 'To: bob', 'X-Note: n', 'From: alice']);
});

test('replaceFirst keeps the spelling of the name and the other lines', () => {
  const headers = sample();
  headers.replaceFirst('via', 'three');
  headers.replaceFirst('Subject', 'hello');
  expect(lines(headers)).toEqual(['v: three', 'To: bob', 'VIA: two', 'X-Note: n', 'Subject: hello']);
});

test('prepend, append, remove and removeFirst act on the written order', () => {
  const headers = sample();
  headers.prepend('Via', 'zero');
  headers.append('Via', 'last');
  headers.removeFirst('v');
  expect(headers.all('via')).toEqual(['one', 'two', 'last']);
  headers.remove('via');
  headers.removeFirst('via');
  expect(lines(headers)).toEqual(['To: bob', 'X-Note: n']);
});

test('a clone has its own lines', () => {
  const headers = sample();
  const copy = headers.clone();
  copy.set('To', 'carol');
  copy.remove('via');
  expect(headers.get('to')).toBe('bob');
  expect(lines(headers)).toHaveLength(4);
});

test.each(['a\r\nX-Evil: 1', 'a\nb', 'a\rb'])('rejects a value with a line break: %j', (value) => {
  const headers = sample();
  expect(() => headers.set('To', value)).toThrow(TypeError);
  expect(() => headers.append('Subject', value)).toThrow(TypeError);
  expect(() => headers.prepend('Via', value)).toThrow(TypeError);
  expect(() => headers.replaceFirst('To', value)).toThrow(TypeError);
  expect(lines(headers)).toEqual(lines(sample()));
});

/** What is read once, read from a list that never changes. */
function readAfresh(headers: HeaderList) {
  const { fromTag, toTag, cseq, topVia } = headers.clone();
  return { fromTag, toTag, cseq, topVia };
}

test.each<[string, (headers: HeaderList) => void]>([
  ['set', (headers) => ['Via', 'From', 'To', 'CSeq'].map((name) => headers.set(name, other[name] ?? ''))],
  [
    'replaceFirst',
    (headers) =>
      ['v', 'f', 't', 'CSeq'].map((name) =>
        headers.replaceFirst(name, other[headerKey(name)] ?? 'SIP/2.0/TLS c;branch=z9hG4bK-c'),
      ),
  ],
  [
    'prepend',
    (headers) => ['Via', 'From', 'To', 'CSeq'].map((name) => headers.prepend(name, other[name] ?? '')),
  ],
  ['remove', (headers) => ['Via', 'From', 'To', 'CSeq'].map((name) => headers.remove(name))],
  ['removeFirst', (headers) => ['Via', 'From', 'To', 'CSeq'].map((name) => headers.removeFirst(name))],
  [
    'append to an empty one',
    (headers) => {
      for (const name of ['Via', 'From', 'To', 'CSeq']) headers.remove(name);
      expect([headers.fromTag, headers.toTag, headers.cseq, headers.topVia]).toEqual([
        undefined,
        undefined,
        null,
        null,
      ]);
      for (const name of ['Via', 'From', 'To', 'CSeq']) headers.append(name, other[name] ?? '');
    },
  ],
])('tags, CSeq and topmost Via are read again after a change: %s', (_change, change) => {
  const headers = new HeaderList([
    ['Via', 'SIP/2.0/TLS a;branch=z9hG4bK-a, SIP/2.0/TLS b'],
    ['Via', 'SIP/2.0/UDP x'],
    ['From', '<sip:a@a>;tag=a'],
    ['To', '<sip:b@b>'],
    ['CSeq', '1 INVITE'],
  ]);
  expect([headers.fromTag, headers.toTag, headers.cseq?.number, headers.topVia?.branch]).toEqual([
    'a',
    undefined,
    1,
    'z9hG4bK-a',
  ]);
  change(headers);
  const { fromTag, toTag, cseq, topVia } = headers;
  expect({ fromTag, toTag, cseq, topVia }).toEqual(readAfresh(headers));
});

const other: Readonly<Record<string, string>> = {
  Via: 'SIP/2.0/TLS c;branch=z9hG4bK-c',
  From: '<sip:a@a>;tag=c',
  To: '<sip:b@b>;tag=d',
  CSeq: '2 BYE',
  from: '<sip:a@a>;tag=c',
  to: '<sip:b@b>;tag=d',
  cseq: '2 BYE',
};
