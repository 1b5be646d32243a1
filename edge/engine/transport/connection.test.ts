import { expect, test } from 'vitest';
import { connectionFailure } from '#shared/connection-faults.ts';
import { connection, MESSAGE } from '../../../test/kit/edge/connection.ts';

test('delivers messages and answers a ping with one CRLF', () => {
  const { receive, news } = connection();
  receive(`${MESSAGE}\r\n\r\n${MESSAGE}`);
  expect(news()).toEqual(['message of 31', 'message of 31', 'write "\\r\\n"']);
});

test('answers a flood of pings in one chunk once', () => {
  const { receive, news } = connection();
  receive('\r\n'.repeat(1000));
  expect(news()).toEqual(['write "\\r\\n"']);
});

test('a stream that is not SIP is reported and no longer read, but carries responses until its owner closes it', () => {
  const { flow, receive, news } = connection();
  receive(`${MESSAGE}GET / HTTP/1.1\r\n`);
  receive(MESSAGE);
  expect(news()).toEqual([
    'message of 31',
    'closing',
    'frame error: not SIP: the first line is not a SIP start line',
  ]);
  expect([flow.draining, flow.closed]).toEqual([true, false]);
  expect(flow.send(Buffer.from('x'))).toBe(true);
  flow.close('done');
  expect(news()).toEqual(['write "x"', 'end']);
  expect(flow.send(Buffer.from('x'))).toBe(false);
});

test('a stream that is not SIP closes after its timeout', () => {
  const { flow, receive, pass, news } = connection({ outbound: true, limits: { drainTimeoutMs: 3_000 } });
  receive('GET / HTTP/1.1\r\n');
  pass(2);
  expect(flow.closed).toBe(false);
  news();
  pass(1);
  expect(news()).toEqual(['end']);
  pass(2);
  expect(news()).toEqual(['destroy']);
});

test('an idle inbound flow is closed after its timeout; any traffic restarts it', () => {
  const { flow, pass, receive, news } = connection({ limits: { idleTimeoutMs: 60_000 } });
  pass(59);
  receive(MESSAGE);
  pass(59);
  flow.send(Buffer.from('x'));
  pass(59);
  expect(flow.closed).toBe(false);
  news();
  pass(1);
  expect(news()).toEqual(['closing', 'end']);
  flow.close('again');
  flow.destroy('and again');
  expect(news()).toEqual(['destroy']);
});

test('a pinned flow stays open; the timeout runs from the last unpin', () => {
  const { flow, pass } = connection({ limits: { idleTimeoutMs: 60_000 } });
  flow.pin();
  flow.pin();
  flow.unpin();
  pass(1000);
  expect(flow.closed).toBe(false);
  flow.unpin();
  flow.unpin();
  pass(59);
  expect(flow.closed).toBe(false);
  pass(1);
  expect(flow.closed).toBe(true);
});

test('a message that is not complete in time cuts the connection, however steadily it trickles in', () => {
  const { pass, receive, news } = connection({ limits: { messageTimeoutMs: 10_000 } });
  receive('OPTIONS sip:b SIP/2.0\r\n');
  for (let i = 0; i < 9; i++) {
    pass(1);
    receive('X-Drip: y\r\n');
  }
  expect(news()).toEqual([]);
  pass(1);
  expect(news()).toEqual(['closing', 'destroy']);
});

test('a WebSocket message that is not complete in time cuts the connection, however little has arrived', () => {
  const { flow, pass, news } = connection({ limits: { messageTimeoutMs: 10_000 } });
  flow.receivedPart(1, false);
  pass(9);
  flow.receivedPart(2, false);
  expect(news()).toEqual([]);
  pass(1);
  expect(news()).toEqual(['closing', 'destroy']);
});

test('each WebSocket message gets the full time', () => {
  const { flow, pass } = connection({ limits: { messageTimeoutMs: 10_000 } });
  for (let i = 0; i < 5; i++) {
    flow.receivedPart(100, i > 0);
    pass(9);
  }
  flow.receivedPart(0, true);
  pass(30);
  expect(flow.closed).toBe(false);
});

test('each message gets the full time', () => {
  const { flow, pass, receive } = connection({ limits: { messageTimeoutMs: 10_000 } });
  for (let i = 0; i < 5; i++) {
    receive(MESSAGE.slice(0, 20));
    pass(9);
    receive(MESSAGE.slice(20) + MESSAGE.slice(0, 5));
    pass(9);
    receive(MESSAGE.slice(5));
  }
  expect(flow.closed).toBe(false);
});

test('pings a silent outbound flow, and cuts it when a peer that used to answer stops answering', () => {
  const { pass, receive, news } = connection({ outbound: true });
  pass(30);
  expect(news()).toEqual(['write "\\r\\n\\r\\n"']);
  receive('\r\n');
  pass(30);
  expect(news()).toEqual(['write "\\r\\n\\r\\n"']);
  pass(9);
  expect(news()).toEqual([]);
  pass(1);
  expect(news()).toEqual(['closing', 'destroy']);
});

test('messages count as signs of life just like answers to pings', () => {
  const { pass, receive, news } = connection({ outbound: true });
  for (let i = 0; i < 4; i++) {
    receive(MESSAGE);
    pass(29);
  }
  expect(news().filter((what) => what.startsWith('write'))).toEqual([]);
});

test('the answers to two pings are not mistaken for a ping', () => {
  const { pass, receive, news } = connection({ outbound: true });
  for (let i = 0; i < 3; i++) {
    pass(30);
    receive('\r\n');
  }
  expect(news()).toEqual(Array(3).fill('write "\\r\\n\\r\\n"'));
});

test('a peer that never answered a ping is pinged once and kept', () => {
  const { flow, pass, news } = connection({ outbound: true });
  flow.pin();
  pass(600);
  expect(news()).toEqual(['write "\\r\\n\\r\\n"']);
  expect(flow.closed).toBe(false);
});

test.each([
  ['the application', {}, 600],
  ['only a peer', { namedByPeer: true }, 60],
])(
  'an outbound flow to a target named by %s is closed when unused, even if its peer answers pings',
  (_who, options, seconds) => {
    const { flow, pass, receive } = connection({ outbound: true, ...options });
    for (let second = 0; second < seconds; second++) {
      expect(flow.closed).toBe(false);
      receive('\r\n');
      pass(1);
    }
    expect(flow.closed).toBe(true);
  },
);

test.each([
  ['a received message', ({ receive }: ReturnType<typeof connection>) => receive(MESSAGE)],
  ['a sent message', ({ flow }: ReturnType<typeof connection>) => void flow.send(Buffer.from(MESSAGE))],
  [
    'the end of a dialog',
    ({ flow }: ReturnType<typeof connection>) => {
      flow.pin();
      flow.unpin();
    },
  ],
])('%s extends the life of an outbound flow', (_what, use) => {
  const fixture = connection({ namedByPeer: true });
  for (let i = 0; i < 3; i++) {
    fixture.pass(59);
    use(fixture);
  }
  fixture.pass(59);
  expect(fixture.flow.closed).toBe(false);
  fixture.pass(1);
  expect(fixture.flow.closed).toBe(true);
});

test('an outbound flow that a dialog or a transaction needs stays open', () => {
  const { flow, pass } = connection({ namedByPeer: true });
  flow.pin();
  pass(3600);
  expect(flow.closed).toBe(false);
});

test('an outbound flow that has registered us stays open as long as the registration', () => {
  const { flow, pass } = connection({ outbound: true });
  flow.keepFor(3_600_000);
  flow.keepFor(60_000);
  pass(3599);
  expect(flow.closed).toBe(false);
  pass(1);
  expect(flow.closed).toBe(true);
});

test('when answers are required, the first missing one cuts the flow', () => {
  const { flow, pass } = connection({ outbound: true, limits: { requirePong: true } });
  pass(39);
  expect(flow.closed).toBe(false);
  pass(1);
  expect(flow.closed).toBe(true);
});

test('closed is reported once, with the first cause', () => {
  const { flow, news } = connection();
  flow.close('done');
  flow.lost(connectionFailure('closed_at_once', 'closed by the peer'));
  flow.lost(connectionFailure('closed_at_once', 'closed by the peer'));
  expect(news()).toEqual(['closing', 'end', 'gone', 'closed: done']);
});

test('a WebSocket frame is a message, or a keepalive of CRLFs', () => {
  const { flow, news } = connection();
  flow.receivedFrame(Buffer.from(MESSAGE));
  flow.receivedFrame(Buffer.from('\r\n\r\n'));
  flow.receivedFrame(Buffer.from('\r\n'));
  expect(news()).toEqual(['message of 31', 'write "\\r\\n"']);
});

test('a keepalive of the wire counts as traffic', () => {
  const { flow, pass } = connection({ limits: { idleTimeoutMs: 60_000 } });
  pass(59);
  flow.alive();
  pass(59);
  expect(flow.closed).toBe(false);
  pass(1);
  expect(flow.closed).toBe(true);
});
