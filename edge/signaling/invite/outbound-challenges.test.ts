/** Challenges to outgoing INVITEs, by real digests. */
import { describe, expect, it } from 'vitest';
import { outboundScene } from '../../../test/kit/edge/outbound-calls.ts';
import { hopAt, route } from '../../../test/kit/fakes/fake-hunt.ts';
import { fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import type { NextHop } from '../../call/ports/routes.ts';
import { authorization, parseChallenges } from '../srf/digest.ts';

const scene = outboundScene();
const { agents, routes, last, call, hangUp } = scene;

const withCredentials = (): NextHop =>
  hopAt(scene.callee.port, {
    route: { ...route, credentials: { username: 'acme', password: 'secret', realm: null } },
  });

describe('a challenge', () => {
  const response = (header: string | undefined) => /response="([0-9a-f]+)"/.exec(header ?? '')?.[1];
  const cnonceOf = (header: string | undefined) => /cnonce="([^"]*)"/.exec(header ?? '')?.[1] ?? '';

  /** The expected credentials. */
  function expected(
    challenge: string,
    given: string | undefined,
    method: string,
    uri: string,
  ): string | undefined {
    const [parsed] = parseChallenges(challenge);
    if (!parsed) throw new Error('no challenge');
    const credentials = { username: 'acme', password: 'secret', method, uri, body: '' };
    return response(authorization(parsed, { ...credentials, nonceCount: 1, cnonce: cnonceOf(given) }));
  }

  it('for two realms is answered for each, also in the ACK', async () => {
    const callId = call([withCredentials()]);
    const realms = (value: string | undefined) =>
      [...(value ?? '').matchAll(/realm="([^"]*)"/g)].map(([, realm]) => realm);
    scene.callee.answer(await scene.callee.request('INVITE'), '407 Proxy Authentication Required', {
      headers: ['near', 'far'].map((realm) => `Proxy-Authenticate: Digest realm="${realm}", nonce="n1"`),
    });
    await scene.callee.request('ACK');
    const invite = await scene.callee.request('INVITE');
    expect(realms(invite.headers['proxy-authorization'])).toEqual(['near', 'far']);
    scene.callee.answer(invite, '200 OK', { body: fakeAnswer });
    expect(realms((await scene.callee.request('ACK')).headers['proxy-authorization'])).toEqual([
      'near',
      'far',
    ]);
    await expect.poll(() => agents.last.started).toBe(1);
    await hangUp(callId);
  });

  it.each(['SHA-256', 'MD5'])(
    'with %s is answered in a second INVITE of the same call',
    async (algorithm) => {
      const callId = call([withCredentials()]);
      const first = await scene.callee.request('INVITE');
      const challenge = `Digest realm="trunk", nonce="n1", algorithm=${algorithm}, qop="auth", opaque="o"`;
      scene.callee.answer(first, '407 Proxy Authentication Required', {
        headers: [`Proxy-Authenticate: ${challenge}`],
      });
      await scene.callee.request('ACK');
      const second = await scene.callee.request('INVITE');
      const given = second.headers['proxy-authorization'];
      const uri = second.startLine.split(' ')[1] ?? '';
      expect(response(given)).toBe(expected(challenge, given, 'INVITE', uri));
      expect(second.headers['call-id']).toBe(first.headers['call-id']);
      expect(second.headers.from).toBe(first.headers.from);
      expect(second.headers.cseq).toBe('2 INVITE');
      scene.callee.answer(second, '200 OK', { body: fakeAnswer });
      expect((await scene.callee.request('ACK')).headers['proxy-authorization']).toBe(given);
      await expect.poll(() => agents.last.started).toBe(1);

      const bye = await hangUp(callId, false);
      const stale = `Digest realm="trunk", nonce="n2", algorithm=${algorithm}, qop="auth"`;
      scene.callee.answer(bye, '407 Proxy Authentication Required', {
        headers: [`Proxy-Authenticate: ${stale}`],
      });
      const again = await scene.callee.request('BYE');
      const byeUri = again.startLine.split(' ')[1] ?? '';
      const byeAuth = again.headers['proxy-authorization'];
      expect(response(byeAuth)).toBe(expected(stale, byeAuth, 'BYE', byeUri));
      scene.callee.answer(again, '200 OK');
    },
  );

  it('is answered by the strongest digest offered', async () => {
    call([withCredentials()]);
    const first = await scene.callee.request('INVITE');
    scene.callee.answer(first, '401 Unauthorized', {
      headers: [
        'WWW-Authenticate: Digest realm="trunk", nonce="n", algorithm=MD5, qop="auth"',
        'WWW-Authenticate: Digest realm="trunk", nonce="n", algorithm=SHA-256, qop="auth"',
      ],
    });
    await scene.callee.request('ACK');
    const second = await scene.callee.request('INVITE');
    expect(second.headers.authorization).toContain('algorithm=SHA-256');
    scene.callee.answer(second, '404 Not Found');
    await scene.callee.request('ACK');
  });

  it('that is repeated ends the call, as does one without credentials', async () => {
    const wrong = call([withCredentials()]);
    const challenge = { headers: ['WWW-Authenticate: Digest realm="trunk", nonce="n1", qop="auth"'] };
    for (const _ of [1, 2]) {
      scene.callee.answer(await scene.callee.request('INVITE'), '401 Unauthorized', challenge);
      await scene.callee.request('ACK');
    }
    await expect.poll(() => last(wrong)?.termination).toBe('route_auth_failed');
    expect(routes.last.outcomes).toMatchObject([
      { kind: 'final', status: 401, phase: 'silent', credentialsSent: true },
    ]);
    const without = call();
    scene.callee.answer(await scene.callee.request('INVITE'), '401 Unauthorized', challenge);
    await scene.callee.request('ACK');
    await expect.poll(() => last(without)?.termination).toBe('route_auth_failed');
    expect(routes.last.outcomes).toMatchObject([{ credentialsSent: false }]);
  });
});
