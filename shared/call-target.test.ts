import { expect, it } from 'vitest';
import { conferenceOf, readCallTarget, transferTargetOf } from '#shared/call-target.ts';

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

it.each([
  ['conference:sales', 'conference:sales'],
  [' Conference:Sales_1;MODERATOR ', 'conference:Sales_1;moderator'],
  ['conference:sales;tones=off;moderator', 'conference:sales;moderator;tones=off'],
  ['conference:sales;agent=stay', 'conference:sales;agent=stay'],
])('reads the conference %j', (text, target) => {
  expect(readCallTarget(text)).toEqual({ target, host: null });
});

it('reads how a call enters a conference', () => {
  expect(conferenceOf('conference:sales')).toEqual({
    name: 'sales',
    isModerator: false,
    hasTones: true,
    keepsAgent: false,
  });
  expect(conferenceOf('conference:sales;tones=off;moderator;agent=stay')).toEqual({
    name: 'sales',
    isModerator: true,
    hasTones: false,
    keepsAgent: true,
  });
  expect(conferenceOf('park:sales')).toBeNull();
});

it.each(['conference:', 'conference:a room', 'conference:sales;tones=on', 'conference:sales;quiet'])(
  'says what the conference %j may be',
  (text) => {
    expect(readCallTarget(text)).toEqual({ problem: expect.stringContaining(';moderator') });
  },
);

it.each(['park:', 'park:two words', `park:${'7'.repeat(33)}`, 'park:7;moderator'])(
  'says what the slot %j may be',
  (text) => {
    expect(readCallTarget(text)).toEqual({ problem: 'must be park: and 1 to 32 letters, digits, _ and -' });
  },
);

it('reads a tel URI as its number, and keeps the URI for a REFER', () => {
  const read = readCallTarget('TEL:+1-415-555-0100');
  expect(read).toEqual({ target: '+14155550100', host: null, tel: 'tel:+14155550100' });
  if ('problem' in read) throw new Error(read.problem);
  expect([transferTargetOf(read, 'refer'), transferTargetOf(read, 'bridge')]).toEqual([
    'tel:+14155550100',
    '+14155550100',
  ]);
  const number = { target: '+14155550100', host: null };
  expect(transferTargetOf(number, 'refer')).toBe('+14155550100');
});

it.each([
  'tel:',
  'tel:911',
  'tel:+1;phone-context=x',
  'tel:+x',
  'tel:+1415555010012345678',
  '',
  'no number!',
  'sip:',
  'sip:bob@pbx.example.com;transport=udp',
  'sip:a@b@c',
  'x'.repeat(65),
])('reports what is wrong with %j', (text) => {
  expect(readCallTarget(text)).toEqual({ problem: expect.stringMatching(/^must/) });
});
