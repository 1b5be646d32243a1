/** Requests that the engine answers itself: rejected, limited, or broken. */
import { describe, expect, it } from 'vitest';
import { TestPeer } from '../../test/kit/edge/sip-peer.ts';
import { requestOf, response, SDP, stackScene } from '../../test/kit/edge/stack.ts';
import { untilClosed } from '../../test/kit/until-closed.ts';

const scene = stackScene();
const { warned, refused, lines, answered } = scene;

/** The same, acknowledged. */
async function established(): Promise<{ to: string; dialogId: string }> {
  const { to, dialogId } = await answered();
  scene.peer.send(lines('ACK', 1, { To: to }));
  await scene.app.next();
  return { to, dialogId };
}

describe('requests that concern no application', () => {
  it('are answered by the engine', async () => {
    const { to } = await established();
    for (const [request, status] of [
      [lines('BYE', 2), 481],
      [lines('BYE', 2, { To: '<sip:b@127.0.0.1>;tag=nobody' }), 481],
      [lines('DANCE', 2), 405],
      [lines('OPTIONS', 2, { 'Call-ID': 'o', Require: 'magic, timer' }), 420],
      [lines('INFO', 1, { To: to }), 500],
      [lines('PRACK', 3, { To: to, RAck: '1 1 INVITE' }), 481],
      [lines('MESSAGE', 4, { 'Call-ID': 'm' }), 503],
    ] as const) {
      scene.peer.send(request);
      const refusal = response(await scene.peer.next());
      expect([request[0], refusal.status]).toEqual([request[0], status]);
      if (status === 405)
        expect(refusal.headers.get('allow')).toBe(
          'INVITE, ACK, BYE, CANCEL, OPTIONS, REFER, NOTIFY, PRACK, UPDATE, INFO',
        );
      if (status === 420) expect(refusal.headers.get('unsupported')).toBe('magic');
    }
    // Reported together, without those of a call and those that nobody routes.
    expect(refused).toEqual([]);
    scene.clock.advance(100);
    expect(refused).toEqual([{ '127.0.0.1': 4 }]);
    scene.clock.advance(1_000);
    expect(refused).toHaveLength(1);
  });

  it('may have any size and number of header lines up to the configured limits', async () => {
    const pad = (count: number) => Array.from({ length: count }, (_, i) => `X-Pad-${i}: x`);
    scene.peer.send(lines('DANCE', 1, { 'Call-ID': 'large', 'X-Pad': 'x'.repeat(90_000) }));
    expect(await scene.peer.status()).toBe(405);
    scene.peer.send([...lines('DANCE', 1, { 'Call-ID': 'few' }), ...pad(32)]);
    expect(await scene.peer.status()).toBe(405);
    scene.peer.send([...lines('DANCE', 1, { 'Call-ID': 'many' }), ...pad(41)]);
    const refusal = response(await scene.peer.next());
    expect([refusal.status, refusal.reason]).toEqual([513, 'Too Many Header Fields']);
  });

  it('are absorbed when retransmitted, and rejected when they arrive on two paths', async () => {
    const options = lines('OPTIONS', 1);
    scene.peer.send(options);
    scene.peer.send(options);
    scene.peer.send(lines('OPTIONS', 1));
    expect(await scene.peer.status()).toBe(482);
    const { tokens } = await scene.app.next();
    await scene.app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK']);
    expect(await scene.peer.status()).toBe(200);
    expect(scene.app.frames.filter((frame) => frame.tokens[1] === 'sip')).toHaveLength(1);
  });

  it('are PRACKs whose RAck names no response of ours, however it is written', async () => {
    scene.peer.send(lines('INVITE', 1, { Supported: '100rel' }), SDP);
    const { tokens } = await scene.app.next();
    await scene.app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 183 Session Progress', 'Require: 100rel'], SDP);
    const { headers } = response(await scene.peer.next());
    const rseq = Number(headers.get('rseq'));
    const to = headers.get('to') ?? '';
    const wrong = [`${rseq + 1} 1 INVITE`, `0x${rseq.toString(16)} 1 INVITE`, `${rseq}.0 1 INVITE`];
    wrong.push(`${rseq} 1e0 INVITE`, `${rseq} 2 INVITE`, `${rseq} 1 UPDATE`, `${rseq} 1`, '');
    for (const [place, rack] of wrong.entries()) {
      scene.peer.send(lines('PRACK', 2 + place, { To: to, RAck: rack }));
      expect([rack, await scene.peer.status()]).toEqual([rack, 481]);
    }
    scene.peer.send(lines('PRACK', 20, { To: to, RAck: `0${rseq} 1  INVITE` }));
    expect((await scene.app.next()).sip.toString()).toMatch(/^PRACK /);
  });

  it('are rejected while another INVITE is pending in the dialog', async () => {
    const { to, dialogId } = await established();
    scene.app.send(`sip||${dialogId}`, ['INVITE sip:placeholder SIP/2.0'], SDP);
    const invite = requestOf(await scene.peer.next());
    scene.peer.send(lines('INVITE', 2, { To: to }));
    expect(await scene.peer.status()).toBe(491);
    expect(invite.headers.get('cseq')).toBe('2 INVITE');
  });

  it('are dropped silently above the allowed rate', async () => {
    for (let i = 0; i < 103; i++) scene.peer.send(lines('DANCE', 1));
    for (let i = 0; i < 100; i++) expect(await scene.peer.status()).toBe(405);
    scene.peer.socket.end();
    await untilClosed(scene.peer.socket);
    expect(scene.peer.received).toHaveLength(100);
    expect(scene.stack.metrics()).toMatchObject({ requests_over_rate: 3 });
    expect(warned).toEqual(["requests above the source's rate limit are dropped"]);
  });

  it('block their source when the application says so', async () => {
    scene.peer.send(lines('OPTIONS', 1));
    const { tokens } = await scene.app.next();
    scene.app.send(`sip|${tokens[8]}|`, ['SIP/2.0 404 Not Found', 'X-Trunkline-Block: 60']);
    const echo = await scene.app.next();
    expect(echo.sip.toString()).not.toContain('Trunkline');
    await untilClosed(scene.peer.socket);
    await expect(TestPeer.connect(scene.addresses.tls.port, scene.certificates.ca)).rejects.toThrow();
  });

  it('block their source when the edge says so', async () => {
    scene.stack.block('127.0.0.1', 60);
    await untilClosed(scene.peer.socket);
    await expect(TestPeer.connect(scene.addresses.tls.port, scene.certificates.ca)).rejects.toThrow();
    scene.clock.advance(60_000);
    (await TestPeer.connect(scene.addresses.tls.port, scene.certificates.ca)).close();
  });
});

describe('a request with malformed line endings', () => {
  const text = (changes: Readonly<Record<string, string>> = {}) =>
    `${[...lines('OPTIONS', 1, changes), 'Content-Length: 0'].join('\r\n')}\r\n\r\n`;

  it.each([
    ['CRCRLF', () => text().replaceAll('\r\n', '\r\r\n')],
    ['CRCRLF at its end', () => text().replace(/\r\n\r\n$/, '\r\n\r\r\n')],
    ['a bare CR before CSeq', () => text().replace('\r\nCSeq', '\rCSeq')],
    ['LFCR before CSeq', () => text().replace('\r\nCSeq', '\n\rCSeq')],
    ['LFCR everywhere', () => text().replaceAll('\r\n', '\n\r')],
    ['a bare CR everywhere', () => text().replaceAll('\r\n', '\r')],
    ['a bare CR before Via', () => text().replace('\r\nVia', '\rVia')],
  ])('is answered 400 or ends the connection at once: %s', async (_what, request) => {
    const end = untilClosed(scene.peer.socket).then(() => 'closed');
    scene.peer.socket.write(request());
    const outcome = await Promise.race([end, scene.peer.status().catch(() => 'closed')]);
    expect([400, 'closed']).toContain(outcome);
    // It is finished: nothing more of it is awaited.
    await expect.poll(() => scene.stack.metrics().transport_unfinished_bytes).toBe(0);
  });

  it('is answered when possible, and the connection stays usable', async () => {
    scene.peer.socket.write(text({ Subject: 'a\rb' }));
    expect(await scene.peer.status()).toBe(400);
    scene.peer.send(lines('DANCE', 2));
    expect(await scene.peer.status()).toBe(405);
  });
});

describe('a valid request followed by garbage', () => {
  const garbage = 'GET / HTTP/1.1\r\n\r\n';
  const send = (...requests: string[][]) =>
    scene.peer.socket.write(
      `${requests.map((request) => `${[...request, 'Content-Length: 0'].join('\r\n')}\r\n\r\n`).join('')}${garbage}`,
    );

  it('is answered before the connection is closed, and nothing more is read', async () => {
    const closed = untilClosed(scene.peer.socket);
    send(lines('OPTIONS', 1), lines('INVITE', 1, { 'Call-ID': 'second' }));
    const [options, invite] = [await scene.app.next(), await scene.app.next()];
    scene.peer.send(lines('OPTIONS', 1, { 'Call-ID': 'unread' }));
    await scene.app.ask(`sip|${options.tokens[8]}|`, ['SIP/2.0 200 OK']);
    expect(await scene.peer.status()).toBe(200);
    await scene.app.ask(`sip|${invite.tokens[8]}|`, ['SIP/2.0 180 Ringing']);
    await scene.app.ask(`sip|${invite.tokens[8]}|`, ['SIP/2.0 486 Busy Here']);
    expect([await scene.peer.status(), await scene.peer.status()]).toEqual([180, 486]);
    await closed;
    expect(scene.app.frames.filter((frame) => frame.sip.toString().includes('unread'))).toEqual([]);
    await expect.poll(() => scene.stack.metrics().transport_inbound).toBe(0);
    // Timer H: the ACK of the 486 can no longer arrive.
    scene.clock.advance(32_000);
    expect(scene.stack.metrics()).toMatchObject({ server_transactions: 0, dialogs: 0 });
  });

  it('is given up after two seconds without an answer', async () => {
    const closed = untilClosed(scene.peer.socket);
    send(lines('OPTIONS', 1));
    const { tokens } = await scene.app.next();
    scene.clock.advance(2_000);
    await closed;
    await expect.poll(() => scene.stack.metrics().transport_inbound).toBe(0);
    expect((await scene.app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK']))[0]).toBe('NOK');
    expect(scene.stack.metrics()).toMatchObject({ server_transactions: 0 });
  });

  it('in a call ends the connection, not the call', async () => {
    const { to, dialogId } = await established();
    const closed = untilClosed(scene.peer.socket);
    send(lines('INFO', 2, { To: to }));
    const { tokens } = await scene.app.next();
    // Nothing can be received over this connection, so a new one is tried, to the Contact's port 9.
    const bye = await scene.app.ask(`sip||${dialogId}`, ['BYE sip:placeholder SIP/2.0']);
    expect(bye[0]).toBe('OK');
    const outcome = await scene.app.next();
    expect([outcome.tokens[8], outcome.sip.toString().split('\r\n')[0]]).toEqual([
      bye[7],
      'SIP/2.0 503 Service Unavailable',
    ]);
    await scene.app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK']);
    expect(await scene.peer.status()).toBe(200);
    await closed;
    expect(scene.stack.metrics()).toMatchObject({ dialogs: 0 });
  });
});
