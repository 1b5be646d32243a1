import { describe, expect, it } from 'vitest';
import { readByeHeaders } from './custom-headers.ts';

describe('headers for a BYE', () => {
  it('are names with text', () => {
    const headers = { 'X-Disposition': 'sold', 'User-to-User': '00616263;encoding=hex' };
    expect(readByeHeaders(headers)).toEqual({ headers });
    expect(readByeHeaders({})).toEqual({ headers: {} });
    expect(readByeHeaders({ 'X-A': 'x'.repeat(4_000) })).toHaveProperty('headers');
  });

  it.each([
    ['a list', [], null],
    ['null', null, null],
    ['text', 'X-A: b', null],
    ['too many', Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`X-${i}`, ''])), null],
    ['a number', { 'X-A': 1 }, 'X-A'],
    ['a line break', { 'X-A': 'b\r\nVia: c' }, 'X-A'],
    ['a name that is no token', { 'X A': 'b' }, 'X A'],
    ['an empty name', { '': 'b' }, ''],
    ['a header of the edge', { 'call-ID': 'b' }, 'call-ID'],
    ['its short form', { i: 'b' }, 'i'],
    ['the Reason', { Reason: 'Q.850;cause=16' }, 'Reason'],
    ['two spellings', { 'X-A': 'b', 'x-a': 'c' }, 'x-a'],
    ['too long together', { 'X-A': 'x'.repeat(4_000), 'X-B': 'y' }, 'X-B'],
  ])('%s cannot be sent', (_, value, member) => {
    expect(readByeHeaders(value)).toMatchObject({ member, problem: expect.any(String) });
  });
});
