import { describe, expect, it } from 'vitest';
import { parseMessage } from '../message/parse.ts';
import { secondsRegistered } from './registration.ts';

function message(startLine: string, fields: readonly string[]) {
  const result = parseMessage(Buffer.from(`${[startLine, ...fields].join('\r\n')}\r\n\r\n`));
  if (!result.ok) throw new Error(result.reason);
  return result.message;
}

function seconds(asked: readonly string[], status: number, granted: readonly string[], method = 'REGISTER') {
  const request = message(`${method} sip:registrar.example SIP/2.0`, asked);
  const response = message(`SIP/2.0 ${status} x`, granted);
  if (request.kind !== 'request' || response.kind !== 'response') throw new Error('nonsense');
  return secondsRegistered(request, response);
}

const us = '<sip:us@192.0.2.1;transport=tls>';

describe('secondsRegistered', () => {
  it.each([
    ['what the registrar grants to the contact', 200, ['Expires: 600', `Contact: ${us};expires=300`], 300],
    ['what it grants to all', 200, ['Expires: 600', `Contact: ${us}`], 600],
    ['the longest of several bindings', 200, [`Contact: ${us};expires=60, <sip:a@b>;expires=90`], 90],
    ['the requested time, when it names none', 200, [], 120],
    ['an hour, when neither side names a time', 200, [`Contact: ${us}`], 3_600],
    ['a day at most', 200, [`Contact: ${us};expires=4294967295`], 86_400],
    ['0 for a challenge', 401, [`Contact: ${us};expires=300`], 0],
  ])('is %s', (_what, status, granted, expected) => {
    expect(seconds(['Expires: 120', `Contact: ${us}`], status, granted)).toBe(expected);
  });

  it('is 0 when the binding is removed, whatever other bindings exist', () => {
    const other = ['Contact: <sip:other@192.0.2.9>;expires=300'];
    expect(seconds(['Expires: 0', `Contact: ${us}`], 200, other)).toBe(0);
    expect(seconds([`Contact: ${us};expires=0`], 200, other)).toBe(0);
    expect(seconds(['Expires: 0', 'Contact: *'], 200, [])).toBe(0);
  });

  it('is 0 for a query and for other methods', () => {
    expect(seconds([], 200, [`Contact: ${us};expires=300`])).toBe(0);
    expect(seconds([`Contact: ${us}`], 200, [`Contact: ${us};expires=300`], 'INVITE')).toBe(0);
  });
});
