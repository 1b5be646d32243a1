/** Test calls through the API, to working and failing far ends: the diagnosis of each. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSelfSigned, issue } from '../kit/fakes/certificates.ts';
import { SipCallee } from '../kit/fakes/sip-callee.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { events, lastDetail, TestCalls, testCallTarget } from '../kit/programs/test-calls.ts';
import { TestTrunk } from '../kit/programs/trunk.ts';
import { attachTrunk, health, setFailover, trunkAuthority } from '../kit/programs/trunk-system.ts';

const to = testCallTarget;

let calls: TestCalls;

describe('a test call', () => {
  const aroundFailover = ['initiated', 'failover', 'initiated', 'busy'];
  const addEndpoint = (number: string, port: number) =>
    setFailover(calls.system, number, {
      enabled: true,
      endpoints: [{ host: '127.0.0.1', port, priority: 1 }],
    });

  beforeAll(async () => {
    calls = await TestCalls.open();
  });
  afterAll(() => calls?.close());

  test('ends at a busy phone', async () => {
    await calls.withTrunk(async (trunk, number) => {
      const id = await calls.start(number);
      const call = await trunk.call();
      call.answer('486 Busy Here');
      expect(await calls.ended(id)).toMatchObject({
        status: 'busy',
        result: 'busy',
        duration_seconds: 0,
        sip_code: 486,
        media: null,
        diagnosis: `${to} is busy (486 Busy Here).`,
      });
    });
  });

  test('ends at an unanswered phone', async () => {
    await calls.withTrunk(async (trunk, number) => {
      const id = await calls.start(number);
      const call = await trunk.call();
      call.answer('180 Ringing');
      const done = await calls.ended(id);
      expect(done).toMatchObject({
        status: 'no-answer',
        result: 'no_answer',
        diagnosis: `No answer from ${to} at 127.0.0.1:${trunk.port}: nobody answered within 5 s.`,
      });
      expect(events(done).at(-1)).toBe('no_answer');
      await call.expect('CANCEL');
    });
  });

  test('ends at a trunk that accepts none of our codecs', async () => {
    await calls.withTrunk(async (trunk, number) => {
      const id = await calls.start(number, { to: '1001' });
      const call = await trunk.call();
      expect(call.invite.startLine).toMatch(/^INVITE sips?:1001@/);
      call.answer('488 Not Acceptable Here');
      expect(await calls.ended(id)).toMatchObject({
        result: 'failed',
        sip_code: 488,
        diagnosis: expect.stringMatching(/accepts none of the offered media \(SRTP with PCMU, /),
      });
    });
  });

  test.each([
    [
      'expired',
      () => trunkAuthority(calls.system).then((authority) => issue(authority, { expired: true })),
      /^The certificate of 127\.0\.0\.1:\d+ has expired; renew it\.$/,
    ],
    [
      'for another host',
      () =>
        trunkAuthority(calls.system).then((authority) =>
          issue(authority, { names: ['DNS:pbx.example.com'] }),
        ),
      /^The certificate of 127\.0\.0\.1:\d+ is for another host \(.*127\.0\.0\.1.*\);/,
    ],
    [
      'from nobody we know',
      async () => createSelfSigned(['IP:127.0.0.1']),
      /^The certificate of 127\.0\.0\.1:\d+ is not from a trusted authority \(self-signed certificate\);/,
    ],
  ])('ends at a certificate that is %s', async (_name, certificate, sentence) => {
    await calls.withTrunk(
      async (_trunk, number) => {
        const done = await calls.ended(await calls.start(number));
        expect(done).toMatchObject({
          status: 'failed',
          result: 'failed',
          error: 'ROUTE_UNREACHABLE',
          sip_code: null,
          media: null,
        });
        expect(done.diagnosis).toMatch(sentence);
        expect(lastDetail(done)).toBe(done.diagnosis);
      },
      await certificate(),
    );
  });

  test('ends at a trunk that rejects the password', async () => {
    const callee = await SipCallee.listen(calls.pair);
    const challenge = 'WWW-Authenticate: Digest realm="pbx", nonce="n1", algorithm=SHA-256, qop="auth"';
    const serving = (async () => {
      for (;;) {
        const heard = await callee.next();
        if (heard.startLine.startsWith('OPTIONS ')) callee.answer(heard, '200 OK');
        if (heard.startLine.startsWith('INVITE '))
          callee.answer(heard, '401 Unauthorized', { headers: [challenge] });
      }
    })();
    const served = expect(serving).rejects.toThrow('the connection was closed');
    try {
      const number = calls.nextNumber();
      const options = { sip_username: 'acme', sip_password: 'wrong' };
      const outbound = { type: 'outbound', sip_endpoint: `127.0.0.1:${callee.port}`, options };
      await calls.system.api.ok('POST', '/v1/sip/attach', { phone_number: number, directions: [outbound] });
      await calls.system.api.applied(number);
      expect(await calls.ended(await calls.start(number))).toMatchObject({
        result: 'failed',
        error: 'ROUTE_AUTH_FAILED',
        sip_code: 401,
        diagnosis: `127.0.0.1:${callee.port} rejected our user name and password; check both (401 Unauthorized).`,
      });
    } finally {
      await callee.close();
    }
    await served;
  });

  test('tries a dead endpoint first, although it is known to be dead, then the next', async () => {
    const dead = await freeTcpPort();
    const second = await TestTrunk.listen(calls.pair);
    try {
      const number = calls.nextNumber();
      await attachTrunk(calls.system, number, dead);
      await addEndpoint(number, second.port);
      await health(calls.system, number, ({ endpoints }) => endpoints[0]?.status === 'unreachable');
      const id = await calls.start(number);
      const call = await second.call();
      call.answer('486 Busy Here');
      const done = await calls.ended(id);
      expect(done.result).toBe('busy');
      expect(events(done)).toEqual(aroundFailover);
      expect(done.timeline.find(({ event }) => event === 'failover')?.detail).toBe(
        `Nothing listens at 127.0.0.1:${dead}: the connection was refused; check host, port and firewall. Failing over to 127.0.0.1:${second.port}.`,
      );
    } finally {
      await second.close();
    }
  });

  test('continues with the next endpoint after a rejection, and moves no trunk', async () => {
    const second = await TestTrunk.listen(calls.pair);
    try {
      await calls.withTrunk(async (first, number) => {
        await addEndpoint(number, second.port);
        await health(calls.system, number, ({ endpoints }) =>
          endpoints.every(({ status }) => status === 'healthy'),
        );
        const id = await calls.start(number);
        (await first.call()).answer('503 Service Unavailable');
        (await second.call()).answer('486 Busy Here');
        const done = await calls.ended(id);
        expect(events(done)).toEqual(aroundFailover);
        expect(await calls.system.api.endedCall(id)).toMatchObject({
          failover_attempts: [{ port: first.port, sip_code: 503, error: 'unreachable' }],
        });
        await health(calls.system, number, ({ endpoints }) => endpoints[0]?.active === true);
      });
    } finally {
      await second.close();
    }
  });

  test('ends when the call is stopped', async () => {
    await calls.withTrunk(async (trunk, number) => {
      const id = await calls.start(number, { max_seconds: 60 });
      const call = await trunk.call();
      call.answer('180 Ringing');
      await eventually('the call to ring', async () => (await calls.state(id)).status === 'ringing' || null);
      await calls.system.api.ok('POST', `/v1/calls/${id}/stop`, {});
      await call.expect('CANCEL');
      expect(await calls.ended(id)).toMatchObject({ status: 'failed', result: 'failed', error: 'API_STOP' });
      expect(await calls.system.api.endedCall(id)).toMatchObject({ outcome: 'canceled', hangup_by: 'api' });
    });
  });
});
