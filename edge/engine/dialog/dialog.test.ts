import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import { parseMessage } from '../message/parse.ts';
import { isBehindNat } from './contact.ts';
import { Dialog } from './dialog.ts';
import { Retransmission } from './retransmission.ts';
import { DialogTable } from './table.ts';

function message(start: string, cseq: string, to: string, ...more: string[]) {
  const head = [start, 'Via: SIP/2.0/TLS a;branch=z9hG4bK-1', 'From: "A" <sip:a@a>;tag=a', `To: ${to}`];
  const result = parseMessage(
    Buffer.from([...head, 'Call-ID: c', `CSeq: ${cseq}`, ...more, '', ''].join('\r\n')),
  );
  if (!result.ok) throw new Error(result.reason);
  return result.message;
}

function request(cseq: string, ...more: string[]): SipRequest {
  const made = message(`${cseq.split(' ')[1]} sip:b@b SIP/2.0`, cseq, '<sip:b@b>', ...more);
  if (made.kind !== 'request') throw new Error('no request');
  return made;
}

function response(toTag: string, ...more: string[]): SipResponse {
  const made = message('SIP/2.0 200 OK', '5 INVITE', `<sip:b@b>;tag=${toTag}`, ...more);
  if (made.kind !== 'response') throw new Error('no response');
  return made;
}

const routes = ['Record-Route: <sip:p1;lr>, <sip:p2;lr>', 'Record-Route: <sip:p3;lr>'];

describe('a dialog', () => {
  it('as a server takes route set and target from the request', () => {
    const dialog = Dialog.ofServer(
      request('5 INVITE', 'Contact: <sip:a@10.0.0.1>', ...routes),
      '<sip:b@b>;tag=b',
    );
    expect(dialog.id).toBe('c;from-tag=a');
    expect(dialog.routeSet).toEqual(['<sip:p1;lr>', '<sip:p2;lr>', '<sip:p3;lr>']);
    expect(dialog.route()).toEqual({
      uri: 'sip:a@10.0.0.1',
      routes: ['<sip:p1;lr>', '<sip:p2;lr>', '<sip:p3;lr>'],
      nextHop: 'sip:p1;lr',
    });
    expect([dialog.local, dialog.remote]).toEqual(['<sip:b@b>;tag=b', '"A" <sip:a@a>;tag=a']);
    expect([dialog.localCSeq, dialog.remoteCSeq]).toEqual([5, 5]);
  });

  it('as a client takes them from the response, with the route set reversed', () => {
    const dialog = Dialog.ofClient(
      request('5 INVITE'),
      response('b', 'Contact: <sip:b@10.0.0.2>', ...routes),
    );
    expect(dialog.id).toBe('c;from-tag=a');
    expect(dialog.routeSet).toEqual(['<sip:p3;lr>', '<sip:p2;lr>', '<sip:p1;lr>']);
    expect([dialog.remoteTarget, dialog.remoteTag, dialog.remoteCSeq]).toEqual(['sip:b@10.0.0.2', 'b', -1]);
  });

  it('puts a strict router in the Request-URI and the target last', () => {
    const made = request('5 INVITE', 'Contact: <sip:a@a>', 'Record-Route: <sip:old>, <sip:p2;lr>');
    expect(Dialog.ofServer(made, '<sip:b@b>;tag=b').route()).toEqual({
      uri: 'sip:old',
      routes: ['<sip:p2;lr>', '<sip:a@a>'],
      nextHop: 'sip:old',
    });
  });

  it('follows the fork that answers', () => {
    const dialog = Dialog.ofClient(request('5 INVITE'), response('x', 'Contact: <sip:x@x>'));
    dialog.adopt(response('y', 'Contact: <sip:y@y>', 'Record-Route: <sip:p;lr>'));
    expect([dialog.remoteTag, dialog.remote, dialog.remoteTarget, dialog.routeSet]).toEqual([
      'y',
      '<sip:b@b>;tag=y',
      'sip:y@y',
      ['<sip:p;lr>'],
    ]);
  });

  it('keeps the other forks while it is early, the latest 64 of all', () => {
    const dialog = Dialog.ofClient(request('5 INVITE'), response('f0', 'Contact: <sip:f0@x>'));
    for (let fork = 1; fork < 65; fork++)
      dialog.adopt(response(`f${fork}`, `Contact: <sip:f${fork}@x>`, 'Record-Route: <sip:p;lr>'));
    expect(dialog.remoteTag).toBe('f64');
    expect(['f0', 'f1', 'f64'].map((tag) => dialog.peer(tag).remoteTarget)).toEqual([
      'sip:f64@x',
      'sip:f1@x',
      'sip:f64@x',
    ]);
    expect(dialog.route(dialog.peer('f1'))).toMatchObject({ uri: 'sip:f1@x', routes: ['<sip:p;lr>'] });
    expect(
      [headers('f1', 'a'), headers('f64', 'a'), headers('f0', 'a')].map((of) => dialog.matches(of)),
    ).toEqual([true, true, false]);
    dialog.move('confirm');
    expect([dialog.matches(headers('f1', 'a')), dialog.peer('f1').remoteTag]).toEqual([false, 'f64']);
  });

  it('takes requests in order only, and target refreshes only when accepted, from methods that allow them', () => {
    const dialog = Dialog.ofServer(request('5 INVITE', 'Contact: <sip:a@a>'), '<sip:b@b>;tag=b');
    expect(dialog.count(request('5 INFO'))).toEqual({ status: 500, reason: 'CSeq Out Of Order' });
    expect(dialog.count(request('9 INFO'))).toBeNull();
    expect(dialog.count(request('8 INFO'))).not.toBeNull();
    dialog.accepted(request('9 INFO', 'Contact: <sip:no@a>'));
    expect(dialog.remoteTarget).toBe('sip:a@a');
    expect(dialog.count(request('10 UPDATE', 'Contact: <sip:new@a>'))).toBeNull();
    expect(dialog.remoteTarget).toBe('sip:a@a');
    dialog.accepted(request('10 UPDATE', 'Contact: <sip:new@a>'));
    expect(dialog.remoteTarget).toBe('sip:new@a');
  });

  it('cannot leave Terminated', () => {
    const dialog = Dialog.ofServer(request('5 INVITE'), '<sip:b@b>;tag=b');
    dialog.move('confirm');
    dialog.move('terminate');
    expect(() => dialog.move('confirm')).toThrow('illegal input "confirm" for a dialog in state Terminated');
  });

  it('is found by Call-ID and both tags, in either role', () => {
    const table = new DialogTable<{ dialog: Dialog }>();
    const server = { dialog: Dialog.ofServer(request('5 INVITE'), '<sip:b@b>;tag=b') };
    const client = { dialog: Dialog.ofClient(request('5 INVITE'), response('b')) };
    table.add(server);
    table.add(client);
    expect(table.size).toBe(2);
    expect(table.forRequest(headers('a', 'b'))).toBe(server);
    expect(table.forRequest(headers('b', 'a'))).toBe(client);
    expect(table.forRequest(headers('a', 'z'))).toBeUndefined();
    table.remove({ dialog: server.dialog });
    expect(table.forRequest(headers('a', 'b'))).toBe(server);
    table.remove(server);
    expect(table.forRequest(headers('a', 'b'))).toBeUndefined();
  });
});

function headers(from: string, to: string) {
  const { headers: made } = request('6 INFO');
  made.set('From', `<sip:x@x>;tag=${from}`);
  made.set('To', `<sip:y@y>;tag=${to}`);
  return made;
}

describe('a response that needs an acknowledgment', () => {
  it.each([
    ['2xx', [500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500]],
    ['reliable 1xx', [500, 1_500, 3_500, 7_500, 15_500, 31_500]],
  ] as const)('is repeated until 32 s are over: %s', (what, expected) => {
    const clock = new FakeClock(0);
    const sent: number[] = [];
    const expired: number[] = [];
    new Retransmission(
      clock,
      what,
      () => void sent.push(clock.now()),
      () => void expired.push(clock.now()),
    );
    clock.advance(100_000);
    expect(sent).toEqual(expected);
    expect(expired).toEqual([32_000]);
    expect(clock.pending).toBe(0);
  });

  it('is not retransmitted after it', () => {
    const clock = new FakeClock();
    let sent = 0;
    const retransmission = new Retransmission(
      clock,
      '2xx',
      () => void sent++,
      () => {},
    );
    clock.advance(600);
    retransmission.stop();
    clock.advance(100_000);
    expect([sent, clock.pending]).toEqual([1, 0]);
  });
});

it.each([
  ['sip:a@10.0.0.1', '192.0.2.7', true],
  ['sip:a@10.0.0.1', '10.0.0.1', false],
  ['sip:a@[fd00::1]:5061', '2001:db8::1', true],
  ['sip:a@203.0.113.9', '203.0.113.7', false],
  ['sip:a@pbx.example.com', '203.0.113.7', false],
])('a Contact of %s from %s behind a NAT: %s', (contact, address, expected) => {
  expect(isBehindNat(contact, { address, port: 5061 })).toBe(expected);
});
