import { expect, it } from 'vitest';
import { validateGraph } from './graph.ts';
import { transferOrder } from './transfer-node.ts';

const order = (data: Record<string, unknown>) =>
  transferOrder({ data }, { desk: ' 1001 ', name: 'Mrs. Lee', key: '*' });

it('fills its templates', () => {
  expect(
    order({
      transferNumber: '{{desk}}',
      transferMethod: 'refer',
      transferAnnouncement: '{{name}} is calling.',
      transferAcceptKey: '1',
    }),
  ).toEqual({ target: '1001', method: 'refer', announcement: 'Mrs. Lee is calling.', acceptKey: '1' });
});

it.each([
  ['conference:{{said}}', 'x;moderator', 'conference:x%3Bmoderator'],
  ['sip:{{said}}@pbx.example', 'a@evil.example;x', 'sip:a%40evil.example%3Bx@pbx.example'],
  ['sip:7@pbx.example;x={{said}}', '1?Subject=<a>', 'sip:7@pbx.example;x=1%3FSubject=%3Ca%3E'],
  ['{{ said }}', 'sip:7@pbx.example;transport=tls', 'sip:7@pbx.example;transport=tls'],
  ['{{said}}', 'conference:x;tones=off', 'conference:x;tones=off'],
  ['+1{{said}}', '4155550100', '+14155550100'],
])('fills %s with %j: a value within a target brings no parameter, header or host', (text, said, target) => {
  expect(transferOrder({ data: { transferNumber: text } }, { said }).target).toBe(target);
});

it('is a bridge without announcement and key by default', () => {
  const plain = { method: 'bridge', announcement: null, acceptKey: null };
  expect(order({ transferNumber: '+14155550100' })).toEqual({ target: '+14155550100', ...plain });
  expect(
    order({ transferNumber: '{{nobody}}', transferAnnouncement: '{{nothing}}', transferAcceptKey: '12' }),
  ).toEqual({ target: '', ...plain });
});

const problems = (data: Record<string, unknown>) =>
  validateGraph([{ id: 't', type: 'Transfer Call', data: { isStart: true, ...data } }], []).map(
    ({ path, rule }) => [path, rule],
  );

it('is rejected with an announcement that is too long, or with an invalid key', () => {
  expect(problems({ transferAnnouncement: 'x'.repeat(1000), transferAcceptKey: '#' })).toEqual([]);
  expect(problems({ transferAnnouncement: null, transferAcceptKey: null })).toEqual([]);
  expect(problems({ transferAnnouncement: 'x'.repeat(1001), transferAcceptKey: 'A' })).toEqual([
    ['/nodes/0/data/transferAnnouncement', 'value'],
    ['/nodes/0/data/transferAcceptKey', 'value'],
  ]);
  expect(problems({ transferAcceptKey: 1 })).toEqual([['/nodes/0/data/transferAcceptKey', 'value']]);
});
