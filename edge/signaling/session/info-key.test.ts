import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readInfoKey } from './info-key.ts';

const relay = 'application/dtmf-relay';
const plain = 'application/dtmf';
const read = (type: string, body: string, headers: Record<string, string> = {}) =>
  readInfoKey({ headers: { 'content-type': type, ...headers }, body });
const key = (digit: string, durationMs = 250) => ({ kind: 'key', key: { digit, durationMs } });

describe('a key in INFO', () => {
  it.each([
    [relay, 'Signal=5\r\nDuration=160\r\n', '5', 160],
    [relay, 'Signal= *\nDuration= 100\n', '*', 100],
    [relay, 'signal:d', 'D', 250],
    [relay, 'Duration=90\r\nSignal=#', '#', 90],
    [relay, 'Signal=10\r\n', '*', 250],
    [relay, 'Signal=11\r\n', '#', 250],
    [relay, 'Signal=12\r\n', 'A', 250],
    [relay, 'Signal=1\r\nDuration=999999999\r\n', '1', 60_000],
    [`${relay};charset=us-ascii`, 'Signal=0\r\nDuration=0\r\n', '0', 0],
    ['Application/DTMF', '7', '7', 250],
    [plain, ' 9\r\n', '9', 250],
    [plain, '15', 'D', 250],
  ])('%s %j is the key %s', (type, body, digit, durationMs) => {
    expect(read(type, body)).toEqual(key(digit, durationMs));
  });

  it('is found in a part of a multipart body', () => {
    const body =
      '--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n--b\r\nContent-Type: application/dtmf\r\n\r\n4\r\n--b--';
    expect(read('multipart/mixed;boundary=b', body)).toEqual(key('4'));
  });

  it.each([
    [relay, 'Signal=hello'],
    [relay, 'Signal='],
    [relay, 'Duration=100'],
    [relay, 'Signal=1\r\nSignal=2'],
    [relay, 'Signal=1\r\nDuration=-5'],
    [relay, 'Signal=1\r\nDuration=fast'],
    [relay, 'Signal=17'],
    [relay, '5'],
    [plain, '12345'],
    [plain, 'Signal=1'],
    [plain, '5'.padEnd(300)],
  ])('%s %j is malformed', (type, body) => {
    expect(read(type, body)).toMatchObject({ kind: 'malformed', why: expect.any(String) });
  });

  it.each([
    ['no body', '', '', {}],
    ['a hook flash', relay, 'Signal=16\r\n', {}],
    ['another hook flash', plain, '!', {}],
    ['an optional body', 'text/plain', 'x', { 'content-disposition': 'render;handling=optional' }],
  ])('%s means nothing to a call', (_, type, body, headers) => {
    expect(read(type, body, headers)).toEqual({ kind: 'nothing' });
  });

  it('in a package, or in another type, is not read', () => {
    expect(read(plain, '5', { 'info-package': 'x' })).toEqual({ kind: 'type' });
    expect(read('application/sdp', 'v=0')).toEqual({ kind: 'type' });
    expect(read('', '5')).toEqual({ kind: 'type' });
    expect(read('multipart/mixed;boundary=b', '--b\r\n\r\nx\r\n--b--')).toEqual({ kind: 'type' });
  });

  it('is only ever one of the sixteen, whatever a peer sends', () => {
    fc.assert(
      fc.property(fc.constantFrom(relay, plain), fc.string({ unit: 'binary-ascii' }), (type, body) => {
        const found = read(type, body);
        if (found.kind === 'key') {
          expect(found.key.digit).toMatch(/^[0-9*#A-D]$/);
          expect(found.key.durationMs).toBeLessThanOrEqual(60_000);
        }
      }),
    );
  });
});
