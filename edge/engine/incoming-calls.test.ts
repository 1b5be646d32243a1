/** Incoming calls on a clock that the test advances: timers and races between peer and application. */
import { describe, expect, it } from 'vitest';
import { requestOf, response, SDP, stackScene } from '../../test/kit/edge/stack.ts';

const scene = stackScene();
const { lines, answered } = scene;

describe('an incoming call', () => {
  it('is called back at the Contact of the last request that was accepted', async () => {
    const { to, dialogId } = await answered();
    scene.peer.send(lines('ACK', 1, { To: to }));
    await scene.app.next();
    const steps = [
      ['INVITE', 'SIP/2.0 488 Not Acceptable Here', 'a'],
      ['UPDATE', 'SIP/2.0 200 OK', 'b'],
      ['UPDATE', 'SIP/2.0 491 Request Pending', 'b'],
      ['INFO', 'SIP/2.0 200 OK', 'b'],
    ] as const;
    for (const [place, [method, answer, expected]] of steps.entries()) {
      const moved = method === 'UPDATE' && answer.endsWith('OK') ? 'b' : 'elsewhere';
      scene.peer.send(
        lines(method, 2 + place, { To: to, Contact: `<sip:${moved}@127.0.0.1:9;transport=tls>` }),
      );
      const { tokens } = await scene.app.next();
      await scene.app.ask(`sip|${tokens[8]}|`, [answer]);
      expect(await scene.peer.status()).toBe(Number(answer.split(' ')[1]));
      await scene.app.ask(`sip||${dialogId}`, ['OPTIONS sip:placeholder SIP/2.0']);
      expect(requestOf(await scene.peer.next()).uri).toBe(`sip:${expected}@127.0.0.1:9;transport=tls`);
    }
  });

  it('is delivered, answered, acknowledged and ended in the frames that applications expect', async () => {
    const invite = lines('INVITE', 1);
    scene.peer.send(invite, SDP);
    const { tokens, sip } = await scene.app.next();
    const transactionId = tokens[8] ?? '';
    const at = ['tls', '127.0.0.1', `${scene.peer.port}`];
    const time = tokens[7] ?? '';
    expect(tokens.slice(1)).toEqual([
      ...['sip', 'network', `${sip.length}`, ...at, time, transactionId, ''],
      ...['127.0.0.1', `${scene.addresses.tls.port}`, ''],
    ]);
    expect(time).toBe('00:00:00.000000');
    expect(transactionId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    const text = [...invite, 'Content-Length: 5'].join('\r\n');
    expect(sip.toString()).toBe(
      `${text.replace(/(branch=\S+)/, `$1;rport=${scene.peer.port}`)}\r\n\r\n${SDP}`,
    );

    const head = [
      'SIP/2.0 200 Fine',
      'to: <sip:b@127.0.0.1>',
      'via: mine',
      'content-length: 999',
      'x-low: 1',
    ];
    scene.app.send(`sip|${transactionId}|`, [...head, 'user-agent: t', 'X-Keep: 2'], SDP);
    const echo = await scene.app.next();
    const ok = response(await scene.peer.next());
    expect(scene.peer.received.map((message) => response(message).status)).toEqual([100, 200]);
    const to = ok.headers.get('to') ?? '';
    expect(echo.sip.toString()).toBe(
      [
        'SIP/2.0 200 Fine',
        `Via: SIP/2.0/TLS 127.0.0.1:9;branch=z9hG4bK-${scene.branches};rport=${scene.peer.port}`,
        'From: <sip:a@127.0.0.1>;tag=a',
        `To: ${to}`,
        'Call-ID: c',
        'CSeq: 1 INVITE',
        `Contact: <sip:127.0.0.1:${scene.addresses.tls.port};transport=tls>`,
        'X-Low: 1',
        'User-Agent: t',
        'X-Keep: 2',
        'Content-Type: application/sdp',
        'Content-Length: 5',
        '',
        SDP,
      ].join('\r\n'),
    );
    const dialogId = 'c;from-tag=a';
    expect(echo.tokens.slice(3)).toEqual([
      ...['OK', 'application', `${echo.sip.length}`, ...at, time, transactionId],
      ...[dialogId, '', 'Msg sent:', ''],
    ]);

    scene.peer.send(lines('ACK', 1, { To: to }));
    expect((await scene.app.next()).tokens.slice(8, 10)).toEqual([transactionId, dialogId]);
    scene.peer.send(lines('BYE', 2, { To: to }));
    const bye = await scene.app.next();
    expect(bye.tokens[8]).not.toBe(transactionId);
    expect(bye.tokens.slice(9)).toEqual([dialogId, '']);
    expect((await scene.app.ask(`sip|${bye.tokens[8]}|`, ['SIP/2.0 200 OK']))[8]).toBe('');
    expect(await scene.peer.status()).toBe(200);
    expect(scene.stack.metrics()).toMatchObject({
      dialogs: 0,
      server_transactions: 0,
      client_transactions: 0,
    });
  });

  it('has its 200 retransmitted until the ACK, and ends after 32 s without one', async () => {
    const { dialogId } = await answered();
    scene.clock.advance(500);
    scene.clock.advance(1_000);
    expect([await scene.peer.status(), await scene.peer.status()]).toEqual([200, 200]);
    scene.clock.advance(30_500);
    // After 3.5, 7.5, 11.5 s and so on: T2 is the longest interval.
    for (let i = 0; i < 8; i++) expect(await scene.peer.status()).toBe(200);
    const bye = requestOf(await scene.peer.next());
    expect(bye.headers.get('reason')).toBe('SIP;cause=200;text="ACK timeout"');
    expect(bye.headers.get('cseq')).toBe('2 BYE');
    const { tokens } = await scene.app.next();
    expect([tokens[2], tokens[8], tokens[9]]).toEqual(['application', 'unsolicited', dialogId]);
  });

  it('holds a BYE from the application until the ACK', async () => {
    const { to, dialogId } = await answered();
    expect((await scene.app.ask(`sip||${dialogId}`, ['BYE sip:placeholder SIP/2.0']))[0]).toBe('OK');
    scene.peer.send(lines('OPTIONS', 5, { 'Call-ID': 'other' }));
    const options = await scene.app.next();
    await scene.app.ask(`sip|${options.tokens[8]}|`, ['SIP/2.0 200 OK']);
    expect(await scene.peer.status()).toBe(200);
    scene.peer.send(lines('ACK', 1, { To: to }));
    expect(requestOf(await scene.peer.next()).method).toBe('BYE');
  });

  it('is canceled: 200, 487, and a late answer from the application is rejected', async () => {
    const invite = lines('INVITE', 1);
    scene.peer.send(invite);
    const { tokens } = await scene.app.next();
    const via = invite[1]?.slice('Via: '.length) ?? '';
    scene.peer.send(lines('CANCEL', 1, { Via: via }));
    expect([await scene.peer.status(), await scene.peer.status()]).toEqual([200, 487]);
    const cancel = await scene.app.next();
    expect(cancel.tokens.slice(8, 10)).toEqual([tokens[8], '']);
    expect(cancel.sip.toString()).toMatch(/^CANCEL /);
    expect(await scene.app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK'])).toEqual([
      'NOK',
      'Response not sent due to unknown transaction',
    ]);
    scene.peer.send(lines('ACK', 1, { Via: via }));
    scene.peer.send(lines('CANCEL', 9));
    expect(await scene.peer.status()).toBe(481);
    expect(scene.stack.metrics()).toMatchObject({ server_transactions: 0 });
  });

  it('has its re-INVITE answered 408 when the application does not answer for 64 s, and goes on', async () => {
    const { to } = await answered();
    scene.peer.send(lines('ACK', 1, { To: to }));
    await scene.app.next();
    scene.peer.send(lines('INVITE', 2, { To: to }), SDP);
    await scene.app.next();
    scene.clock.advance(64_000);
    expect(await scene.peer.status()).toBe(408);
    expect(scene.stack.metrics()).toMatchObject({ dialogs: 1 });
  });

  it('is answered 503 when the application hangs, and says nothing about it for 5 s', async () => {
    scene.peer.send(lines('INVITE', 1));
    const { tokens } = await scene.app.next();
    scene.clock.advance(5_000);
    expect(await scene.peer.status()).toBe(503);
    const cancel = await scene.app.next();
    expect(cancel.sip.toString()).toMatch(/^CANCEL /);
    expect(cancel.tokens[8]).toBe(tokens[8]);
    const late = await scene.app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK'], SDP);
    expect(late[0]).toBe('NOK');
  });

  it('is answered 503 then also when its INVITE is retransmitted meanwhile', async () => {
    const invite = lines('INVITE', 1);
    scene.peer.send(invite);
    await scene.app.next();
    scene.peer.send(invite);
    await expect.poll(() => scene.peer.received.length).toBe(2);
    scene.clock.advance(5_000);
    expect(await scene.peer.status()).toBe(503);
  });

  it('is answered 503 at once while the application is behind with others', async () => {
    const call = (id: string) => lines('INVITE', 1, { 'Call-ID': id, From: `<sip:a@127.0.0.1>;tag=${id}` });
    const ring = (transactionId = '') => scene.app.ask(`sip|${transactionId}|`, ['SIP/2.0 180 Ringing']);
    scene.peer.send(call('1'));
    const first = await scene.app.next();
    scene.clock.advance(1_001);
    scene.peer.send(call('2'));
    const second = await scene.app.next();
    await ring(first.tokens[8]);
    expect(await scene.peer.status()).toBe(180);
    scene.peer.send(call('3'));
    const refusal = response(await scene.peer.next());
    expect([refusal.status, refusal.headers.get('retry-after')]).toEqual([503, '5']);
    scene.peer.send(lines('OPTIONS', 1));
    expect((await scene.app.next()).sip.toString()).toMatch(/^OPTIONS /);
    expect(scene.stack.metrics()).toMatchObject({ requests_overload: 1 });
    expect(scene.warned).toEqual(['a request was refused: there is more to do than can be done']);
    await ring(second.tokens[8]);
    expect(await scene.peer.status()).toBe(180);
    scene.peer.send(call('4'));
    expect((await scene.app.next()).sip.toString()).toMatch(/^INVITE /);
  });

  it('without an offer, of a caller who insists on reliable responses, waits longer: it cannot ring', async () => {
    scene.peer.send(lines('INVITE', 1, { Require: '100rel' }));
    await scene.app.next();
    scene.clock.advance(63_000);
    scene.clock.advance(1_000);
    expect(await scene.peer.status()).toBe(408);
  });

  it('is rejected when its reliable provisional response is not acknowledged', async () => {
    scene.peer.send(lines('INVITE', 1, { Supported: '100rel' }));
    const { tokens } = await scene.app.next();
    await scene.app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 183 Progress', 'require: 100rel'], SDP);
    const first = response(await scene.peer.next());
    scene.clock.advance(500);
    expect(response(await scene.peer.next()).headers.get('rseq')).toBe(first.headers.get('rseq'));
    scene.clock.advance(31_500);
    for (let i = 0; i < 5; i++) expect(await scene.peer.status()).toBe(183);
    expect(await scene.peer.status()).toBe(504);
    expect(scene.stack.metrics()).toMatchObject({ dialogs: 0 });
  });

  it('ends early by BYE: the BYE is answered, then the INVITE', async () => {
    scene.peer.send(lines('INVITE', 1));
    const { tokens } = await scene.app.next();
    await scene.app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 180 Ringing']);
    const ringing = response(await scene.peer.next());
    scene.peer.send(lines('BYE', 2, { To: ringing.headers.get('to') ?? '' }));
    const bye = await scene.app.next();
    await scene.app.ask(`sip|${bye.tokens[8]}|`, ['SIP/2.0 200 OK']);
    expect([await scene.peer.status(), await scene.peer.status()]).toEqual([200, 487]);
  });
});

describe('a caller whose connection closes while it rings', () => {
  it.each(['SIP/2.0 480 Temporarily Unavailable', 'SIP/2.0 200 OK'])(
    'leaves no state after %s',
    async (final) => {
      scene.peer.send(lines('INVITE', 1), SDP);
      const { tokens } = await scene.app.next();
      await scene.app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 180 Ringing']);
      expect(scene.stack.metrics()).toMatchObject({ dialogs: 1 });
      scene.peer.close();
      await expect.poll(() => scene.stack.metrics().transport_inbound).toBe(0);
      const cancel = await scene.app.next();
      expect([cancel.tokens[8], cancel.sip.toString().split(' ')[0]]).toEqual([tokens[8], 'CANCEL']);
      expect(cancel.sip.toString()).toContain('Reason: SIP;cause=487;text="connection lost"');
      expect(await scene.app.ask(`sip|${tokens[8]}|`, [final], SDP)).toEqual([
        'NOK',
        'Response not sent due to unknown transaction',
      ]);
      expect(scene.stack.metrics()).toMatchObject({ dialogs: 0 });
      scene.clock.advance(32_000);
      expect(scene.stack.metrics()).toMatchObject({ server_transactions: 0 });
    },
  );
});

it('a BYE from the application ends the dialog even when the Contact cannot be reached', async () => {
  scene.peer.send(lines('INVITE', 1, { Contact: '<sip:a@127.0.0.1;transport=udp>' }), SDP);
  const { tokens } = await scene.app.next();
  const echo = await scene.app.ask(`sip|${tokens[8]}|`, ['SIP/2.0 200 OK'], SDP);
  const to = response(await scene.peer.next()).headers.get('to') ?? '';
  scene.peer.send(lines('ACK', 1, { To: to }));
  await scene.app.next();
  scene.peer.close();
  await expect.poll(() => scene.stack.metrics().transport_inbound).toBe(0);
  expect((await scene.app.ask(`sip||${echo[8]}`, ['BYE sip:a@127.0.0.1 SIP/2.0']))[0]).toBe('OK');
  expect((await scene.app.next()).sip.toString()).toMatch(/^SIP\/2\.0 503 /);
  expect(scene.stack.metrics()).toMatchObject({ dialogs: 0 });
});
