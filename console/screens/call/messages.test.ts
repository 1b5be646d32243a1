import { expect, it } from 'vitest';
import { ladderOf, type TracedMessage } from './messages.ts';

function message(seq: number, at: string, part: Partial<TracedMessage>): TracedMessage {
  return {
    seq,
    at,
    direction: 'received',
    local: '192.0.2.1:5061',
    remote: '192.0.2.9:5061',
    transport: 'tls',
    start_line: 'INVITE sip:+14155550100@example.com SIP/2.0',
    raw: '',
    ...part,
  };
}

const begin = '2030-01-01T00:00:00.000Z';

it('makes a rung of each message, with its time since the call began and since the one before', () => {
  const { rows } = ladderOf(
    [
      message(1, '2030-01-01T00:00:00.010Z', { raw: 'CSeq: 1 INVITE\r\nContent-Type: application/sdp\r\n' }),
      message(2, '2030-01-01T00:00:00.050Z', {
        direction: 'sent',
        start_line: 'SIP/2.0 486 Busy Here',
        raw: 'SIP/2.0 486 Busy Here\r\nCSeq: 1 INVITE\r\n',
      }),
    ],
    begin,
  );
  expect(rows).toMatchObject([
    { title: 'INVITE', kind: 'request', atMs: 10, afterMs: null, hasSdp: true, sent: false, answers: null },
    {
      title: '486 Busy Here',
      kind: 'failure',
      atMs: 50,
      afterMs: 40,
      hasSdp: false,
      sent: true,
      answers: 'INVITE',
    },
  ]);
});

it('tells kinds of responses apart', () => {
  const kinds = ['100 Trying', '180 Ringing', '200 OK', '302 Moved', '603 Decline'].map(
    (line) => ladderOf([message(1, begin, { start_line: `SIP/2.0 ${line}` })], begin).rows[0]?.kind,
  );
  expect(kinds).toEqual(['provisional', 'provisional', 'success', 'failure', 'failure']);
});

it('gives each peer a line, in the order of their first message, with the product that it names', () => {
  const { peers, rows } = ladderOf(
    [
      message(1, begin, { remote: '192.0.2.9:5061', direction: 'sent', raw: 'User-Agent: Trunkline\r\n' }),
      message(2, begin, { remote: '192.0.2.7:5061', raw: 'Server: Carrier SBC 4\r\n' }),
      message(3, begin, { remote: '192.0.2.9:5061' }),
    ],
    begin,
  );
  expect(peers).toEqual([
    { address: '192.0.2.9:5061', product: null },
    { address: '192.0.2.7:5061', product: 'Carrier SBC 4' },
  ]);
  expect(rows.map(({ peer }) => peer)).toEqual([0, 1, 0]);
});
