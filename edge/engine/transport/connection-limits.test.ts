/** Peers that do not read, and sources that no configuration names. */
import { expect, test } from 'vitest';
import { connection, MESSAGE } from '../../../test/kit/edge/connection.ts';

test('a peer that does not read is cut', () => {
  const { flow, wire, news } = connection({ limits: { maxQueuedBytes: 100 } });
  wire.queuedBytes = 60;
  expect(flow.send(Buffer.alloc(40))).toBe(true);
  expect(flow.send(Buffer.alloc(41))).toBe(false);
  expect(news().slice(1)).toEqual(['pause', 'closing', 'destroy']);
});

test('flushed data that is not taken within two seconds is dropped', () => {
  const { flow, pass, news } = connection();
  flow.close('done');
  pass(1);
  expect(news()).toEqual(['closing', 'end']);
  pass(1);
  expect(news()).toEqual(['destroy']);
});

test('a stranger that sends no message is cut within seconds, however many CRLFs or octets it sends', () => {
  const ways = ['', '\r\n', '\r\n\r\n', 'O'];
  for (const octets of ways) {
    const { flow, pass, receive } = connection({ stranger: true });
    for (let second = 0; second < 5; second++) {
      expect(flow.closed).toBe(false);
      if (octets !== '') receive(octets);
      pass(1);
    }
    expect(flow.closed).toBe(true);
  }
});

test('a known source may be silent, and keeps its connection with CRLFs', () => {
  const { flow, pass, receive } = connection();
  for (let minute = 0; minute < 60; minute++) {
    receive('\r\n\r\n');
    pass(60);
  }
  expect(flow.closed).toBe(false);
});

test('an endless header is cut after the message timeout', () => {
  for (const stranger of [false, true]) {
    const { flow, pass, receive } = connection({ stranger });
    receive(`${MESSAGE}OPTIONS sip:b SIP/2.0\r\n`);
    for (let second = 0; second < 10; second++) {
      expect(flow.closed).toBe(false);
      receive(`X-${second}: x\r\n`);
      pass(1);
    }
    expect(flow.closed).toBe(true);
  }
});

test("CRLFs do not keep a stranger's connection open after its message", () => {
  const { flow, pass, receive } = connection({ stranger: true });
  receive(MESSAGE);
  for (let second = 0; second < 60; second++) {
    expect(flow.closed).toBe(false);
    receive('\r\n\r\n');
    pass(1);
  }
  expect(flow.closed).toBe(true);
});

test("a stranger's connection that a dialog needs stays open", () => {
  const { flow, slot, pass, receive } = connection({ stranger: true });
  receive(MESSAGE);
  flow.pin();
  pass(3600);
  expect([flow.closed, slot.pinned]).toEqual([false, true]);
  flow.unpin();
  pass(60);
  expect([flow.closed, slot.pinned]).toEqual([true, false]);
});

test('a source that becomes known keeps its connection', () => {
  const { flow, slot, pass } = connection({ stranger: true });
  pass(4);
  slot.share = 'org';
  pass(500);
  expect(flow.closed).toBe(false);
});

test('a peer is not read while it does not take its answers, and read again once it does', () => {
  const { flow, wire, news } = connection({ limits: { maxQueuedBytes: 1000 } });
  wire.queuedBytes = 501;
  flow.send(Buffer.from('x'));
  expect(news()).toEqual(['write "x"', 'pause']);
  wire.queuedBytes = 251;
  flow.drained();
  expect(news()).toEqual([]);
  wire.queuedBytes = 250;
  flow.drained();
  expect(news()).toEqual(['resume']);
});

test('a peer is not read while too many answers to it are pending', () => {
  const { flow, news } = connection({ limits: { maxQueuedBytes: 1000 } });
  flow.owe(300);
  expect(news()).toEqual([]);
  flow.owe(300);
  expect(news()).toEqual(['pause']);
  flow.settle(300);
  expect(news()).toEqual([]);
  flow.settle(300);
  expect(news()).toEqual(['resume']);
});

test('half a message is not late while we do not read', () => {
  const { flow, pass, receive, news } = connection({ limits: { maxQueuedBytes: 1000 } });
  receive(MESSAGE.slice(0, 10));
  flow.owe(600);
  pass(29);
  expect(flow.closed).toBe(false);
  flow.settle(600);
  expect(news()).toEqual(['pause', 'resume']);
  pass(9);
  expect(flow.closed).toBe(false);
  pass(1);
  expect(flow.closed).toBe(true);
});

test('a peer that takes nothing is cut after the timeout, one that takes little is not', () => {
  const { flow, wire, pass } = connection();
  wire.queuedBytes = 10_000;
  flow.send(Buffer.from('x'));
  for (let second = 0; second < 100; second++) {
    pass(1);
    wire.queuedBytes -= 10;
  }
  expect(flow.closed).toBe(false);
  pass(31);
  expect(flow.closed).toBe(true);
});

test('the memory held by an incomplete message is reported until it is complete or the connection ends', () => {
  const { flow, receive, held } = connection({ stranger: true });
  receive(MESSAGE.slice(0, 20));
  expect(held()).toBe(20);
  receive(MESSAGE.slice(20));
  expect(held()).toBe(0);
  receive(`${MESSAGE}${MESSAGE.slice(0, 12)}`);
  expect(held()).toBe(12);
  flow.destroy('the test ends it');
  expect(held()).toBe(0);
});
