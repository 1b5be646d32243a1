import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { type ConnectionFailure, connectionFailure } from '#shared/connection-faults.ts';
import { IllegalMove, step } from '#shared/state-machine.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import { parseMessage } from '../message/parse.ts';
import { InviteClientTransaction, NonInviteClientTransaction } from './client.ts';
import { clientInvite } from './client-invite.ts';
import { mergeKey, originOf, serverKey } from './matching.ts';
import { InviteServerTransaction, NonInviteServerTransaction } from './server.ts';
import { TransactionTable } from './table.ts';

function request(method: string, ...changes: string[]): SipRequest {
  const via =
    changes.find((line) => line.startsWith('Via:')) ?? 'Via: SIP/2.0/TLS a.example;branch=z9hG4bK-1';
  const to = changes.find((line) => line.startsWith('To:')) ?? 'To: <sip:b@b>';
  const result = parseMessage(
    Buffer.from(
      [
        `${method} sip:b@b.example SIP/2.0`,
        via,
        'From: <sip:a@a>;tag=a',
        to,
        'Call-ID: c',
        `CSeq: 1 ${method}`,
        'Route: <sip:p;lr>',
        'Content-Length: 0',
        '',
        '',
      ].join('\r\n'),
    ),
  );
  if (!result.ok || result.message.kind !== 'request') throw new Error('bad test request');
  return result.message;
}

function response(status: number, toTag = 'b', method = 'INVITE'): SipResponse {
  const result = parseMessage(
    Buffer.from(
      `SIP/2.0 ${status} X\r\nVia: SIP/2.0/TLS a.example;branch=z9hG4bK-1\r\nFrom: <sip:a@a>;tag=a\r\nTo: <sip:b@b>;tag=${toTag}\r\nCall-ID: c\r\nCSeq: 1 ${method}\r\nContent-Length: 0\r\n\r\n`,
    ),
  );
  if (!result.ok || result.message.kind !== 'response') throw new Error('bad test response');
  return result.message;
}

const BYTES = Buffer.from('bytes');

function recorder() {
  const clock = new FakeClock();
  const events: string[] = [];
  const wire: SipRequest[] = [];
  const user = {
    response: ({ status }: SipResponse) => void events.push(`${status}`),
    repeated: ({ status }: SipResponse) => void events.push(`again ${status}`),
    timeout: () => void events.push('timeout'),
    unreachable: ({ text }: ConnectionFailure) => void events.push(`unreachable: ${text}`),
    ended: () => void events.push('ended'),
  };
  const send = (message: SipRequest) => void wire.push(message);
  return { clock, events, wire, user, send };
}

function inviteClient() {
  const parts = recorder();
  const transaction = new InviteClientTransaction('z9hG4bK-1', request('INVITE'), parts.user, parts.clock);
  transaction.start(parts.send, BYTES);
  return { ...parts, transaction };
}

function optionsClient() {
  const parts = recorder();
  const transaction = new NonInviteClientTransaction(
    'z9hG4bK-1',
    request('OPTIONS'),
    parts.user,
    parts.clock,
  );
  transaction.start(parts.send, BYTES);
  return { ...parts, transaction };
}

describe('an INVITE client transaction', () => {
  it('times out by Timer B when nothing arrives', () => {
    const { clock, events } = inviteClient();
    clock.advance(31_999);
    expect(events).toEqual([]);
    clock.advance(1);
    expect(events).toEqual(['timeout', 'ended']);
    expect(clock.pending).toBe(0);
  });

  it('acknowledges a failure itself, with the To tag of the response and the route of the INVITE', () => {
    const { clock, events, wire, transaction } = inviteClient();
    transaction.receive(response(180), BYTES);
    transaction.receive(response(486), BYTES);
    expect(events).toEqual(['180', '486', 'ended']);
    const ack = wire[1];
    expect(ack?.method).toBe('ACK');
    expect(ack?.uri).toBe('sip:b@b.example');
    expect(ack?.headers.get('via')).toBe('SIP/2.0/TLS a.example;branch=z9hG4bK-1');
    expect(ack?.headers.get('to')).toBe('<sip:b@b>;tag=b');
    expect(ack?.headers.get('cseq')).toBe('1 ACK');
    expect(ack?.headers.get('route')).toBe('<sip:p;lr>');
    expect(clock.pending).toBe(0);
  });

  it('leaves the ACK of a 2xx to its user, and accepts retransmitted ones for 32 s (Timer M)', () => {
    const { clock, events, wire, transaction } = inviteClient();
    transaction.receive(response(200), BYTES);
    transaction.receive(response(200), BYTES);
    transaction.receive(response(180), BYTES);
    expect(events).toEqual(['200', 'again 200']);
    expect(wire).toHaveLength(1);
    clock.advance(32_000);
    expect(events).toEqual(['200', 'again 200', 'ended']);
  });

  it('sends CANCEL at once when it has a provisional response', () => {
    const { clock, events, wire, transaction } = inviteClient();
    transaction.receive(response(180), BYTES);
    expect(transaction.cancel([['Reason', 'SIP;cause=200']])?.headers.get('reason')).toBe('SIP;cause=200');
    expect(wire.map(({ method }) => method)).toEqual(['INVITE', 'CANCEL']);
    expect(wire[1]?.headers.get('cseq')).toBe('1 CANCEL');
    transaction.cancel();
    expect(wire).toHaveLength(2);
    clock.advance(32_000);
    expect(events).toEqual(['180', 'timeout', 'ended']);
  });

  it('delays a CANCEL until the first provisional response', () => {
    const { wire, transaction } = inviteClient();
    transaction.cancel();
    expect(wire).toHaveLength(1);
    transaction.receive(response(100), BYTES);
    expect(wire.map(({ method }) => method)).toEqual(['INVITE', 'CANCEL']);
  });

  it('cannot be canceled once it is answered', () => {
    const { wire, transaction } = inviteClient();
    transaction.receive(response(200), BYTES);
    expect(transaction.cancel()).toBeNull();
    expect(wire).toHaveLength(1);
  });

  it('cancels itself by Timer C, which every provisional response restarts', () => {
    const { clock, events, wire, transaction } = inviteClient();
    transaction.receive(response(180), BYTES);
    clock.advance(184_999);
    transaction.receive(response(183), BYTES);
    clock.advance(184_999);
    expect(wire).toHaveLength(1);
    clock.advance(1);
    expect(wire[1]?.method).toBe('CANCEL');
    transaction.receive(response(487), BYTES);
    expect(events).toEqual(['180', '183', '487', 'ended']);
    expect(clock.pending).toBe(0);
  });

  it('reports a transport failure, but not after the answer', () => {
    const lost = inviteClient();
    lost.transaction.transportFailed(connectionFailure('lost', 'gone'));
    expect(lost.events).toEqual(['unreachable: gone', 'ended']);
    lost.transaction.transportFailed(connectionFailure('lost', 'gone'));
    expect(lost.events).toHaveLength(2);
    const answered = inviteClient();
    answered.transaction.receive(response(200), BYTES);
    answered.transaction.transportFailed(connectionFailure('lost', 'gone'));
    expect(answered.events).toEqual(['200']);
  });
});

describe('a non-INVITE client transaction', () => {
  it('times out by Timer F, with or without provisional responses', () => {
    const { clock, events, transaction } = optionsClient();
    clock.advance(20_000);
    transaction.receive(response(100, 'b', 'OPTIONS'), BYTES);
    clock.advance(12_000);
    expect(events).toEqual(['100', 'timeout', 'ended']);
  });

  it('ends with its final response', () => {
    const { clock, events, transaction } = optionsClient();
    transaction.receive(response(200, 'b', 'OPTIONS'), BYTES);
    expect(events).toEqual(['200', 'ended']);
    expect(clock.pending).toBe(0);
  });
});

function serverRecorder() {
  const clock = new FakeClock();
  const events: string[] = [];
  const user = {
    id: 'u',
    send: (bytes: Buffer) => void events.push(bytes.toString()),
    resend: (bytes: Buffer) => void events.push(`${bytes} again`),
    unanswered: () => void events.push('unanswered'),
    ended: () => void events.push('ended'),
  };
  return { clock, events, user };
}

function inviteServer() {
  const parts = serverRecorder();
  return {
    ...parts,
    invite: new InviteServerTransaction('key', null, request('INVITE'), parts.user, parts.clock),
  };
}

function optionsServer() {
  const parts = serverRecorder();
  return {
    ...parts,
    transaction: new NonInviteServerTransaction('key', null, request('OPTIONS'), parts.user, parts.clock),
  };
}

describe('an INVITE server transaction', () => {
  it('retransmits its last response to a retransmitted INVITE', () => {
    const { events, invite } = inviteServer();
    invite.trying(Buffer.from('100'));
    invite.retransmitted();
    invite.respond(180, Buffer.from('180'));
    invite.retransmitted();
    invite.respond(486, Buffer.from('486'));
    invite.retransmitted();
    expect(events).toEqual(['100', '100 again', '180', '180 again', '486', '486 again']);
  });

  it('waits for the ACK of a failure, at most 32 s (Timer H)', () => {
    const acknowledged = inviteServer();
    acknowledged.invite.respond(486, Buffer.from('486'));
    acknowledged.invite.acknowledgedFailure();
    expect(acknowledged.events).toEqual(['486', 'ended']);
    const forgotten = inviteServer();
    forgotten.invite.respond(486, Buffer.from('486'));
    forgotten.clock.advance(31_999);
    expect(forgotten.events).toEqual(['486']);
    forgotten.clock.advance(1);
    expect(forgotten.events).toEqual(['486', 'ended']);
  });

  it('absorbs retransmitted INVITEs after a 2xx until the ACK, at most 32 s (Timer L)', () => {
    const { clock, events, invite } = inviteServer();
    invite.respond(200, Buffer.from('200'));
    invite.retransmitted();
    invite.respond(200, Buffer.from('200 again'));
    expect(events).toEqual(['200', '200 again']);
    clock.advance(32_000);
    expect(events).toEqual(['200', '200 again', 'ended']);
    const acknowledged = inviteServer();
    acknowledged.invite.respond(200, Buffer.from('200'));
    acknowledged.invite.acknowledged();
    expect(acknowledged.events).toEqual(['200', 'ended']);
    expect(acknowledged.clock.pending).toBe(0);
  });

  it('reports that its user is silent for 64 s, but not once it rings', () => {
    const silent = inviteServer();
    silent.clock.advance(64_000);
    expect(silent.events).toEqual(['unanswered']);
    const ringing = inviteServer();
    ringing.invite.respond(180, Buffer.from('180'));
    ringing.clock.advance(600_000);
    expect(ringing.events).toEqual(['180']);
  });

  it('accepts no second final response', () => {
    const { invite } = inviteServer();
    invite.respond(486, BYTES);
    expect(invite.open).toBe(false);
    expect(() => invite.respond(200, BYTES)).toThrow(IllegalMove);
  });
});

describe('a non-INVITE server transaction', () => {
  it('absorbs retransmissions, and resends a provisional response', () => {
    const { events, transaction } = optionsServer();
    transaction.retransmitted();
    transaction.respond(100, Buffer.from('100'));
    transaction.retransmitted();
    transaction.respond(200, Buffer.from('200'));
    expect(events).toEqual(['100', '100 again', '200', 'ended']);
    expect(transaction.open).toBe(false);
  });

  it('forgets a request that is not answered within 32 s', () => {
    const { clock, events } = optionsServer();
    clock.advance(32_000);
    expect(events).toEqual(['ended']);
  });
});

describe('matching', () => {
  it('uses branch, sent-by and method', () => {
    const invite = serverKey(originOf(request('INVITE').headers), 'INVITE');
    expect(serverKey(originOf(request('INVITE').headers), 'INVITE')).toBe(invite);
    expect(serverKey(originOf(request('ACK').headers), 'INVITE')).toBe(invite);
    expect(serverKey(originOf(request('OPTIONS').headers), 'OPTIONS')).not.toBe(invite);
    for (const via of [
      'Via: SIP/2.0/TLS a.example;branch=z9hG4bK-2',
      'Via: SIP/2.0/TLS b.example;branch=z9hG4bK-1',
      'Via: SIP/2.0/TLS a.example:5062;branch=z9hG4bK-1',
    ]) {
      expect(serverKey(originOf(request('INVITE', via).headers), 'INVITE')).not.toBe(invite);
    }
    const spaced = 'Via: SIP / 2.0 / TLS A.Example ;branch=z9hG4bK-1, SIP/2.0/UDP x;branch=z9hG4bK-9';
    expect(serverKey(originOf(request('INVITE', spaced).headers), 'INVITE')).toBe(invite);
  });

  it('uses Call-ID, tag and CSeq for RFC 2543 clients, whose ACK has a To tag', () => {
    const via = 'Via: SIP/2.0/TLS a.example;branch=1';
    const invite = serverKey(originOf(request('INVITE', via).headers), 'INVITE');
    expect(serverKey(originOf(request('ACK', via, 'To: <sip:b@b>;tag=b').headers), 'INVITE')).toBe(invite);
    expect(
      serverKey(originOf(request('INVITE', 'Via: SIP/2.0/TLS z.example;branch=1').headers), 'INVITE'),
    ).not.toBe(invite);
  });

  it('detects merged requests outside dialogs', () => {
    const table = new TransactionTable();
    const merge = mergeKey(request('INVITE').headers);
    const user = { id: 'u', send: () => {}, resend: () => {}, unanswered: () => {}, ended: () => {} };
    const clock = new FakeClock();
    const transaction = new InviteServerTransaction('key', merge, request('INVITE'), user, clock);
    expect(table.isMerged(merge)).toBe(false);
    table.addServer(transaction);
    expect(table.isMerged(merge)).toBe(true);
    table.removeServer(transaction);
    expect(table.isMerged(merge)).toBe(false);
    expect(mergeKey(request('INVITE', 'To: <sip:b@b>;tag=b').headers)).toBeNull();
  });

  it('finds the transaction of a response by branch and method, so that a CANCEL has its own', () => {
    const { transaction } = inviteClient();
    const table = new TransactionTable();
    table.addClient(transaction);
    expect(table.clientFor(response(200))).toBe(transaction);
    expect(table.clientFor(response(200, 'b', 'CANCEL'))).toBeUndefined();
    table.removeClient(transaction);
    expect(table.clientFor(response(200))).toBeUndefined();
  });
});

it('an illegal input is rejected with transaction, state and input', () => {
  expect(() => step(clientInvite, 'Terminated', 'cancel')).toThrow(
    'illegal input "cancel" for an INVITE client transaction in state Terminated',
  );
});
