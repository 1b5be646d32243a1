import { expect, it } from 'vitest';
import { readCallTarget } from '#shared/call-target.ts';

it.each([
  ['+1 (415) 555-0100', '+14155550100', null],
  ['14155550100', '+14155550100', null],
  [' 1001 ', '1001', null],
  ['*67', '*67', null],
  ['sip:bob@pbx.example.com:5071', 'sip:bob@pbx.example.com:5071', 'pbx.example.com'],
  ['SIPS:bob@[2001:db8::1]', 'SIPS:bob@[2001:db8::1]', '2001:db8::1'],
])('reads %j', (text, target, host) => {
  expect(readCallTarget(text)).toEqual({ target, host });
});

it.each(['', 'no number!', 'sip:', 'sip:bob@pbx.example.com;transport=udp', 'sip:a@b@c', 'x'.repeat(65)])(
  'reports what is wrong with %j',
  (text) => {
    expect(readCallTarget(text)).toEqual({ problem: expect.stringMatching(/^must/) });
  },
);
