import { expect, test } from 'vitest';
import { formatCSeq, parseCSeq } from './cseq.ts';
import { parseDecimal, parseDeltaSeconds } from './numbers.ts';

test.each([
  ['0', 0],
  ['0070', 70],
  ['255', 255],
  ['256', null],
  ['99999999999999999999999999', null],
  ['', null],
  ['-1', null],
  ['+1', null],
  [' 1', null],
  ['1.0', null],
])('parseDecimal(%j, 255)', (text, expected) => expect(parseDecimal(text, 255)).toBe(expected));

test.each([
  ['1800;refresher=uac', 1800],
  ['60 (busy)', 60],
  ['99999999999999999999', 4294967295],
  ['', null],
  ['soon', null],
  ['1x', null],
])('parseDeltaSeconds(%j)', (value, expected) => expect(parseDeltaSeconds(value)).toBe(expected));

test.each([
  ['1 INVITE', { number: 1, method: 'INVITE' }],
  ['0009 \t INVITE', { number: 9, method: 'INVITE' }],
  ['2147483647 BYE', { number: 2147483647, method: 'BYE' }],
  ['2147483648 BYE', null],
  ['1', null],
  ['INVITE', null],
  ['1 INV ITE', null],
  ['', null],
])('parseCSeq(%j)', (value, expected) => expect(parseCSeq(value)).toEqual(expected));

test('formatCSeq writes what parseCSeq reads', () => {
  expect(formatCSeq({ number: 7, method: 'ACK' })).toBe('7 ACK');
});
