/** The port of the application: authentication, what it announces, and what it rejects. */
import { describe, expect, it } from 'vitest';
import { SECRET } from '../../test/kit/edge/engine.ts';
import { RawApp } from '../../test/kit/edge/raw-app.ts';
import { stackScene } from '../../test/kit/edge/stack.ts';
import { untilClosed } from '../../test/kit/until-closed.ts';

const scene = stackScene();
const { lines } = scene;

describe('the application port', () => {
  it('accepts nothing before authentication', async () => {
    const stranger = await RawApp.connect(scene.addresses.app.port);
    expect(await stranger.ask('ping')).toEqual(['OK', 'pong']);
    expect(await stranger.ask('route|invite')).toEqual(['NO', 'authenticate first']);
    await untilClosed(stranger.socket);
  });

  it('closes after a wrong secret, and when no secret arrives', async () => {
    const stranger = await RawApp.connect(scene.addresses.app.port);
    expect(await stranger.ask('authenticate|wrong|')).toEqual(['NO', 'incorrect secret']);
    await untilClosed(stranger.socket);
    const silent = await RawApp.connect(scene.addresses.app.port);
    expect(await silent.ask('ping')).toEqual(['OK', 'pong']);
    scene.clock.advance(10_000);
    await untilClosed(silent.socket);
  });

  it('announces where SIP is served, with a version that makes applications send pings', async () => {
    const other = await RawApp.connect(scene.addresses.app.port);
    const where = `tls/127.0.0.1:${scene.addresses.tls.port}`;
    const answer = await other.ask(`authenticate|${SECRET}|tag`);
    expect(answer).toEqual(['OK', where, 'v0.9.10-trunkline', where]);
    other.close();
  });

  it('rejects what it cannot do, and stays connected', async () => {
    expect(await scene.app.ask('sip|')).toEqual(['NOK', 'a sip frame needs at least four tokens']);
    expect(await scene.app.ask('sip||', ['nonsense'])).toEqual(['NOK', 'malformed SIP message: nonsense']);
    expect(await scene.app.ask('dance')).toEqual(['NO', 'Unknown message type']);
    expect(await scene.app.ask('sip||', ['OPTIONS sip:x SIP/2.0'], 'x'.repeat(5_000))).toEqual([
      'NOK',
      'frame of 5037 octets is larger than the limit of 4000',
    ]);
    expect((await scene.app.ask('proxy|x|||||||sip:x', ['INVITE sip:x SIP/2.0']))[0]).toBe('NOK');
    expect(await scene.app.ask('sip|unknown|', ['SIP/2.0 200 OK'])).toEqual([
      'NOK',
      'Response not sent due to unknown transaction',
    ]);
    expect(await scene.app.ask('sip|unknown|', ['CANCEL sip:x SIP/2.0'])).toEqual([
      'NOK',
      'unable to cancel unknown transaction id: unknown',
    ]);
    expect(await scene.app.ask('sip||gone', ['INFO sip:placeholder SIP/2.0'])).toEqual([
      'NOK',
      'Server error: unable to find dialog for dialog id provided',
    ]);
    expect(await scene.app.ask('sip||', ['OPTIONS http://x SIP/2.0'])).toEqual([
      'NOK',
      'invalid request-uri: OPTIONS http://x',
    ]);
    expect(await scene.app.ask('ping')).toEqual(['OK', 'pong']);
  });

  it('stops routing only the named verb', async () => {
    expect(await scene.app.ask('remove_route|invite')).toEqual(['OK']);
    scene.peer.send(lines('INVITE', 1));
    expect(await scene.peer.status()).toBe(503);
    scene.peer.send(lines('OPTIONS', 2));
    expect((await scene.app.next()).tokens[1]).toBe('sip');
  });
});
