/** Outgoing calls on a clock that the test advances: timers, connections and forks. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestPeer } from '../../test/kit/edge/sip-peer.ts';
import { requestOf, SDP, stackScene } from '../../test/kit/edge/stack.ts';
import { untilClosed } from '../../test/kit/until-closed.ts';
import type { SipRequest } from './message/message.ts';

const scene = stackScene();
const { warned, lines } = scene;

describe('an outgoing call', () => {
  let server: Server;
  let accepted: Promise<TestPeer>;
  let uri: string;

  beforeEach(async () => {
    server = createServer({
      cert: readFileSync(scene.certificates.cert),
      key: readFileSync(scene.certificates.key),
    });
    accepted = once(server, 'secureConnection').then(([socket]: TLSSocket[]) => {
      if (!socket) throw new Error('no connection');
      return TestPeer.accepted(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    uri = `sip:b@127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  });

  afterEach(async () => {
    (await accepted).close();
    server.close();
  });

  /** A response from the callee to an INVITE that the engine sent. */
  function reply(
    callee: TestPeer,
    invite: SipRequest,
    status: number,
    toTag: string,
    contact = 'callee',
  ): void {
    callee.send([
      `SIP/2.0 ${status} X`,
      ...['via', 'from', 'call-id', 'cseq'].map((name) => `${name}: ${invite.headers.get(name)}`),
      `to: ${invite.headers.get('to')}${invite.headers.toTag === undefined ? `;tag=${toTag}` : ''}`,
      `contact: <sip:${contact}@127.0.0.1:9>`,
    ]);
  }

  /** A request from the callee in the dialog of a fork. */
  function ofFork(invite: SipRequest, toTag: string, cseq: string): string[] {
    return [
      `${cseq.split(' ')[1]} sip:placeholder SIP/2.0`,
      `via: SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bK${toTag}${cseq.split(' ')[0]}`,
      `from: ${invite.headers.get('to')};tag=${toTag}`,
      `to: ${invite.headers.get('from')}`,
      `call-id: ${invite.headers.get('call-id')}`,
      `cseq: ${cseq}`,
      'max-forwards: 70',
      `contact: <sip:${toTag}@127.0.0.1:9>`,
    ];
  }

  async function invited(): Promise<{ callee: TestPeer; invite: SipRequest; transactionId: string }> {
    const echo = await scene.app.ask('sip||', [`INVITE ${uri} SIP/2.0`], SDP);
    const callee = await accepted;
    return { callee, invite: requestOf(await callee.next()), transactionId: echo[7] ?? '' };
  }

  it('is completed with everything that the application left out', async () => {
    const { invite } = await invited();
    const contact = `<sip:127.0.0.1:${scene.addresses.tls.port};transport=tls>`;
    expect(invite.uri).toBe(uri);
    expect(invite.headers.get('via')).toMatch(
      new RegExp(
        `^SIP/2\\.0/TLS 127\\.0\\.0\\.1:${scene.addresses.tls.port};branch=z9hG4bK[0-9a-f]{24};rport;alias$`,
      ),
    );
    expect(invite.headers.get('max-forwards')).toBe('70');
    expect(invite.headers.get('from')).toMatch(/^<sip:127\.0\.0\.1:\d+;transport=tls>;tag=[0-9a-f]{16}$/);
    expect(invite.headers.get('to')).toBe(`<${uri}>`);
    expect(invite.headers.get('contact')).toBe(contact);
    expect(invite.headers.get('content-type')).toBe('application/sdp');
    expect(invite.body.toString()).toBe(SDP);
  });

  it('gets a 408 when nobody answers for 32 s', async () => {
    const { transactionId } = await invited();
    scene.clock.advance(32_000);
    const { tokens, sip } = await scene.app.next();
    expect(tokens.slice(2, 9)).toEqual(['network', '0', 'tls', '', '0', '00:00:32.000000', transactionId]);
    expect(sip.toString()).toMatch(/^SIP\/2\.0 408 Request Timeout\r\n/);
  });

  it('without any traffic for 4 s leaves its connection to requests in progress', async () => {
    const { callee, invite, transactionId } = await invited();
    scene.clock.advance(3_999);
    expect(warned).toEqual([]);
    scene.clock.advance(1);
    expect(scene.stack.metrics()).toMatchObject({ flows_set_aside: 1, transport_outbound: 1 });
    expect(warned).toEqual(['no new requests on this connection: its peer is silent']);
    const another = once(server, 'secureConnection');
    await scene.app.ask('sip||', [`OPTIONS ${uri} SIP/2.0`]);
    const [socket]: TLSSocket[] = await another;
    reply(callee, invite, 200, 'x');
    expect((await scene.app.next()).tokens[8]).toBe(transactionId);
    socket?.destroy();
    await scene.app.next();
  });

  it('that is answered in time shares its connection with later calls', async () => {
    const { callee, invite } = await invited();
    reply(callee, invite, 180, 'x');
    await scene.app.next();
    scene.clock.advance(10_000);
    await scene.app.ask('sip||', [`OPTIONS ${uri} SIP/2.0`]);
    expect(requestOf(await callee.next()).method).toBe('OPTIONS');
    expect(warned).toEqual([]);
  });

  it('that gets no answer abandons a connection on which nothing was received', async () => {
    const { callee } = await invited();
    scene.clock.advance(32_000);
    await scene.app.next();
    await untilClosed(callee.socket);
    await expect.poll(() => scene.stack.metrics().transport_outbound).toBe(0);
    expect(scene.stack.metrics()).toMatchObject({ flows_given_up: 1 });
    expect(warned).toEqual([
      'no new requests on this connection: its peer is silent',
      'connection closed: its peer has gone silent',
    ]);
    const again = once(server, 'secureConnection');
    await scene.app.ask('sip||', [`OPTIONS ${uri} SIP/2.0`]);
    const [socket]: TLSSocket[] = await again;
    socket?.destroy();
  });

  it('that gets no answer keeps a connection on which anything was received', async () => {
    const { callee } = await invited();
    callee.socket.write('\r\n');
    callee.send(lines('OPTIONS', 1));
    await scene.app.next();
    scene.clock.advance(32_000);
    await scene.app.next();
    expect(callee.socket.destroyed).toBe(false);
    expect(scene.stack.metrics()).toMatchObject({ transport_outbound: 1 });
  });

  it.each([
    ['SIP/2.0 999 What\r\n\r\n'],
    ['SIP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ])('keeps ringing when its connection delivers %j', async (foreign) => {
    const { callee, invite, transactionId } = await invited();
    reply(callee, invite, 180, 'x');
    await scene.app.next();
    callee.socket.write(foreign);
    reply(callee, invite, 200, 'x');
    const { tokens, sip } = await scene.app.next();
    expect([tokens[8], sip.toString().split('\r\n')[0]]).toEqual([transactionId, 'SIP/2.0 200 X']);
    const { messages_malformed: malformed = 0, responses_unmatched: unmatched = 0 } = scene.stack.metrics();
    expect(malformed + unmatched).toBe(1);
    expect(warned).toEqual(['unreadable message dropped']);
  });

  it('is answered by any 2xx, acknowledged, and ended in its dialog (13.2.2.4)', async () => {
    const { callee, invite } = await invited();
    reply(callee, invite, 202, 'x');
    const dialogId = (await scene.app.next()).tokens[9];
    expect((await scene.app.ask(`sip||${dialogId}`, ['ACK sip:placeholder SIP/2.0']))[0]).toBe('OK');
    const ack = requestOf(await callee.next());
    expect([ack.method, ack.uri]).toEqual(['ACK', 'sip:callee@127.0.0.1:9']);
    reply(callee, invite, 202, 'x');
    expect(requestOf(await callee.next()).headers.get('via')).toBe(ack.headers.get('via'));
    expect((await scene.app.ask(`sip||${dialogId}`, ['BYE sip:placeholder SIP/2.0']))[0]).toBe('OK');
    expect(requestOf(await callee.next()).headers.get('to')).toBe(`<${uri}>;tag=x`);
  });

  it('gets a 503 at once when the connection is lost', async () => {
    const { callee } = await invited();
    callee.close();
    const { sip } = await scene.app.next();
    expect(sip.toString()).toMatch(/^SIP\/2\.0 503 Service Unavailable\r\n/);
    expect(sip.toString()).toMatch(/Warning: 399 \S+ "127\.0\.0\.1:\d+: connection lost: /);
  });

  it('is canceled after 185 s of ringing', async () => {
    const { callee, invite } = await invited();
    reply(callee, invite, 180, 'x');
    await scene.app.next();
    scene.clock.advance(185_000);
    expect(requestOf(await callee.next()).method).toBe('CANCEL');
  });

  it('that is answered while being canceled ends right after the ACK', async () => {
    const { callee, invite, transactionId } = await invited();
    reply(callee, invite, 180, 'x');
    await scene.app.next();
    expect((await scene.app.ask(`sip|${transactionId}|`, [`CANCEL ${uri} SIP/2.0`]))[0]).toBe('OK');
    expect(requestOf(await callee.next()).method).toBe('CANCEL');
    reply(callee, invite, 200, 'x');
    const dialogId = (await scene.app.next()).tokens[9];
    expect((await scene.app.ask(`sip||${dialogId}`, ['ACK sip:placeholder SIP/2.0']))[0]).toBe('OK');
    expect(requestOf(await callee.next()).method).toBe('ACK');
    expect(requestOf(await callee.next()).headers.get('reason')).toContain('cancel race');
    expect((await scene.app.next()).tokens[8]).toBe('unsolicited');
  });

  it('resends its ACK for a retransmitted 200, and ends the call of a second fork', async () => {
    const { callee, invite } = await invited();
    reply(callee, invite, 200, 'x');
    const dialogId = (await scene.app.next()).tokens[9];
    await scene.app.ask(`sip||${dialogId}`, ['ACK sip:placeholder SIP/2.0']);
    const ack = requestOf(await callee.next());
    expect([ack.method, ack.uri]).toEqual(['ACK', 'sip:callee@127.0.0.1:9']);
    reply(callee, invite, 200, 'x');
    expect(requestOf(await callee.next()).headers.get('via')).toBe(ack.headers.get('via'));
    reply(callee, invite, 200, 'y');
    const [forkAck, forkBye] = [requestOf(await callee.next()), requestOf(await callee.next())];
    expect([forkAck.method, forkBye.method]).toEqual(['ACK', 'BYE']);
    expect(forkBye.headers.get('to')).toBe(`<${uri}>;tag=y`);
  });

  it('acknowledges each copy of a 200 that arrived before there was an ACK', async () => {
    const { callee, invite } = await invited();
    for (let copy = 0; copy < 3; copy++) reply(callee, invite, 200, 'x');
    const dialogId = (await scene.app.next()).tokens[9];
    // What the engine answers itself shows that it has read all that came before.
    callee.send(ofFork(invite, 'z', '1 UPDATE'));
    await callee.next();
    await scene.app.ask(`sip||${dialogId}`, ['ACK sip:placeholder SIP/2.0']);
    for (let copy = 0; copy < 3; copy++) expect(requestOf(await callee.next()).method).toBe('ACK');
  });

  it('acknowledges a 200 with a BYE behind it, before the application can', async () => {
    const { callee, invite } = await invited();
    reply(callee, invite, 200, 'x');
    callee.send(ofFork(invite, 'x', '1 BYE'));
    const ack = requestOf(await callee.next());
    expect([ack.method, ack.uri, ack.headers.get('cseq')]).toEqual([
      'ACK',
      'sip:callee@127.0.0.1:9',
      `${invite.headers.cseq?.number} ACK`,
    ]);
    expect((await scene.app.next()).sip.toString()).toMatch(/^SIP\/2\.0 200 /);
    expect((await scene.app.next()).sip.toString()).toMatch(/^BYE /);
  });

  it('acknowledges the 200 to a re-INVITE that a BYE has crossed', async () => {
    const { callee, invite } = await invited();
    reply(callee, invite, 200, 'x');
    const dialogId = (await scene.app.next()).tokens[9];
    await scene.app.ask(`sip||${dialogId}`, ['ACK sip:placeholder SIP/2.0']);
    await callee.next();
    await scene.app.ask(`sip||${dialogId}`, ['INVITE sip:placeholder SIP/2.0'], SDP);
    const again = requestOf(await callee.next());
    callee.send(ofFork(invite, 'x', '1 BYE'));
    expect((await scene.app.next()).sip.toString()).toMatch(/^BYE /);
    reply(callee, again, 200, 'x');
    const ack = requestOf(await callee.next());
    expect([ack.method, ack.headers.get('cseq')]).toEqual(['ACK', `${again.headers.cseq?.number} ACK`]);
  });

  it('keeps the early dialog of each fork until one answers', async () => {
    const { callee, invite } = await invited();
    reply(callee, invite, 183, 'x', 'x');
    reply(callee, invite, 183, 'y', 'y');
    const dialogId = (await scene.app.next()).tokens[9];
    await scene.app.next();
    for (const fork of ['x', 'y', 'x']) {
      const prack = ['PRACK sip:placeholder SIP/2.0', `To: <${uri}>;tag=${fork}`, 'RAck: 1 1 INVITE'];
      await scene.app.ask(`sip||${dialogId}`, prack);
      const { headers, uri: target } = requestOf(await callee.next());
      expect([target, headers.get('to')]).toEqual([`sip:${fork}@127.0.0.1:9`, `<${uri}>;tag=${fork}`]);
    }
    // Each fork counts its own requests.
    for (const [fork, cseq] of [
      ['x', '9 UPDATE'],
      ['y', '3 UPDATE'],
      ['x', '10 UPDATE'],
    ] as const) {
      callee.send(ofFork(invite, fork, cseq));
      const { tokens, sip } = await scene.app.next();
      expect(tokens[9]).toBe(dialogId);
      expect(sip.toString()).toContain(`\r\ncseq: ${cseq}\r\n`);
    }
    callee.send(ofFork(invite, 'x', '8 UPDATE'));
    expect(await callee.status()).toBe(500);
    reply(callee, invite, 200, 'x', 'x');
    expect((await scene.app.next()).tokens[9]).toBe(dialogId);
    callee.send(ofFork(invite, 'y', '4 UPDATE'));
    expect(await callee.status()).toBe(481);
    callee.send(ofFork(invite, 'x', '11 UPDATE'));
    expect((await scene.app.next()).sip.toString()).toContain('\r\ncseq: 11 UPDATE\r\n');
  });

  it("that fails is acknowledged by the engine, and the application's ACK is rejected", async () => {
    const { callee, invite, transactionId } = await invited();
    reply(callee, invite, 486, 'x');
    expect(requestOf(await callee.next()).method).toBe('ACK');
    const { tokens } = await scene.app.next();
    expect(tokens[8]).toBe(transactionId);
    expect(await scene.app.ask(`sip||${tokens[9]}`, ['ACK sip:placeholder SIP/2.0'])).toEqual([
      'NOK',
      'Server error: ACK for non-success final response is automatically generated by server',
    ]);
  });
});
