import { describe, expect, it } from 'vitest';
import type { NumberConfig } from '#shared/edge-protocol/numbers.ts';
import { NumberIndex, normalizeNumber, sipUri, uriOf, userOf } from './numbers.ts';

const config = (number: string): NumberConfig => ({
  number,
  org_id: 'o',
  inbound: [],
  outbound: [],
  agent: null,
});

describe('the user part of a URI', () => {
  it.each([
    ['sip:+14155550100@edge.example;transport=tls', '+14155550100'],
    ['sips:14155550100@[2001:db8::1]:5061', '14155550100'],
    ['SIP:bob:secret@example.com', 'bob'],
    ['sip:%2B14155550100@example.com', '+14155550100'],
    ['sip:+1-415-555-0100;npdi=yes@example.com;user=phone', '+1-415-555-0100'],
    ['tel:+1-415-555-0100;phone-context=example.com', '+1-415-555-0100'],
    ['sip:a%ZZb@example.com', 'a%ZZb'],
  ])('%s is %s', (uri, user) => {
    expect(userOf(uri)).toBe(user);
  });

  it.each(['sip:example.com', 'http://bob@example.com', 'tel:', 'sip:@example.com', ''])(
    '%s has none',
    (uri) => {
      expect(userOf(uri)).toBeNull();
    },
  );
});

describe('the URI of a header', () => {
  it.each([
    ['<sip:a@b>;tag=1', 'sip:a@b'],
    ['"A <b> \\"c" <sips:a@b;x=1>;tag=1', 'sips:a@b;x=1'],
    ['Anonymous <sip:a@b>', 'sip:a@b'],
    ['sip:a@b;tag=1', 'sip:a@b'],
  ])('%s', (value, uri) => {
    expect(uriOf(value)).toBe(uri);
  });
});

describe('a number', () => {
  it.each([
    ['+14155550100', '+14155550100'],
    ['14155550100', '+14155550100'],
    ['+1 (415) 555-01.00', '+14155550100'],
    ['1000', '1000'],
    ['0014155550100', '0014155550100'],
    ['+1234567890123456', '+1234567890123456'],
    ['alice', 'alice'],
  ])('%s is reported as %s', (user, number) => {
    expect(normalizeNumber(user)).toBe(number);
  });

  it('is found with and without plus', () => {
    const index = new NumberIndex([config('+14155550100'), config('+442071838750')]);
    expect(index.find('14155550100')?.number).toBe('+14155550100');
    expect(index.find('+14155550100')?.number).toBe('+14155550100');
    expect(index.find('+44-20-7183-8750')?.number).toBe('+442071838750');
    expect(index.find('4155550100')).toBeUndefined();
    expect(index.find('+14155550199')).toBeUndefined();
    expect(index.find('')).toBeUndefined();
  });
});

describe('a SIP URI of ours', () => {
  it.each([
    ['+14155550123', 'trunk.example', 'sip:+14155550123@trunk.example:5061;transport=tls'],
    ['*7#', '192.0.2.1', 'sip:*7%23@192.0.2.1:5061;transport=tls'],
    ['a b@c;d?e', '2001:db8::1', 'sip:a%20b%40c;d?e@[2001:db8::1]:5061;transport=tls'],
    ['', '[::1]', 'sip:[::1]:5061;transport=tls'],
  ])('of %s at %s is %s', (user, host, uri) => {
    expect(sipUri(user, host, 5061)).toBe(uri);
  });
});
