/** When a registration that failed, was changed, or has an order to try now is sent again. */
import { describe, expect, it } from 'vitest';
import { connectionFailure } from '#shared/connection-faults.ts';
import { challenge, first, ours, Scene, settled, target, via } from '../../../test/kit/edge/registrar.ts';

const second = target('192.0.2.2');
describe('a failing registration', () => {
  it("tries the registrar's next target when one is unavailable", async () => {
    const scene = new Scene();
    scene.resolution = { ok: true, targets: [first, second] };
    scene.registration.start();
    (await scene.request()).silence(connectionFailure('refused', 'connection refused'));
    const { message, answer } = await scene.request();
    expect(message.proxy).toBe('sip:192.0.2.2:5061;transport=tls');
    answer(200, { via: via(1) });
    // A refresh goes to the target with the binding.
    scene.clock.advance(24_000);
    expect((await scene.request()).message.proxy).toBe('sip:192.0.2.2:5061;transport=tls');
  });

  it('increases the pause after every failure, up to a limit', async () => {
    const scene = new Scene({ retryMaxMs: 60_000 });
    scene.registration.start();
    for (const pauseMs of [5_000, 10_000, 20_000, 30_000, 30_000]) {
      (await scene.request()).silence(connectionFailure('refused', 'connection refused'));
      expect(scene.registration.state).toMatchObject({
        state: 'failed',
        sipCode: null,
        lastError:
          'Nothing listens at pbx.example.com:5061: the connection was refused; check host, port and firewall.',
        nextTryAt: scene.clock.now() + pauseMs,
      });
      scene.clock.advance(pauseMs - 1);
      await scene.nothingSent();
      scene.clock.advance(1);
    }
  });

  it('reports that a registrar does not respond', async () => {
    const scene = new Scene();
    scene.registration.start();
    await settled();
    scene.clock.advance(8_000);
    expect(scene.registration.state).toMatchObject({
      state: 'failed',
      lastError:
        'pbx.example.com:5061 did not respond to the REGISTER in time; check that a SIP registrar listens there and accepts requests from our addresses.',
    });
  });

  it('waits as long as Retry-After says', async () => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(503, { 'retry-after': '90 (maintenance);duration=10' });
    expect(scene.registration.state).toMatchObject({ state: 'failed', sipCode: 503 });
    scene.clock.advance(89_999);
    await scene.nothingSent();
    scene.clock.advance(1);
    await scene.request();
  });

  it.each([
    [403, /^pbx\.example\.com:5061 forbids this registration; .*\(403 Reason\)\.$/],
    [404, /^pbx\.example\.com:5061 does not know this user; .*\(404 Reason\)\.$/],
    [301, /redirects are not followed/],
    [302, /redirects the registration to sip:elsewhere\.example; redirects are not followed/],
    [603, /^pbx\.example\.com:5061 rejected the registration \(603 Reason\)\.$/],
  ])('pauses for long after %d', async (status, lastError) => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(status, { contact: '<sip:elsewhere.example>' });
    expect(scene.registration.state).toMatchObject({ state: 'failed', sipCode: status });
    expect(scene.registration.state.lastError).toMatch(lastError);
    scene.clock.advance(299_999);
    await scene.nothingSent();
  });

  it('reports why the registrar has no permitted address', async () => {
    const scene = new Scene();
    scene.resolution = { ok: false, message: '10.0.0.1 is a private address' };
    scene.registration.start();
    await scene.nothingSent();
    expect(scene.registration.state).toMatchObject({
      state: 'failed',
      lastError: 'There is no usable address for pbx.example.com:5061: 10.0.0.1 is a private address.',
    });
    scene.resolution = { ok: true, targets: [first] };
    scene.clock.advance(5_000);
    await scene.request();
  });
});

describe('a registration with a new record', () => {
  const wrong = async (scene: Scene) => {
    (await scene.request()).answer(401, { 'www-authenticate': challenge('a') });
    (await scene.request()).answer(401, { 'www-authenticate': challenge('b') });
  };

  it('is retried within seconds until the PBX knows the password', async () => {
    const scene = new Scene({ setUp: true });
    const begun = scene.clock.now();
    scene.registration.start();
    const tried: number[] = [];
    for (let failures = 0; failures < 5; failures++) {
      tried.push((scene.clock.now() - begun) / 1000);
      await wrong(scene);
      const { nextTryAt } = scene.registration.state;
      scene.clock.advance((nextTryAt ?? 0) - scene.clock.now());
    }
    expect(tried).toEqual([0, 4, 12, 24, 40]);
    (await scene.request()).answer(200, { contact: ours, expires: '300' });
    expect(scene.registration.state).toMatchObject({ state: 'registered', nextTryAt: null, lastError: null });
  });

  it('sends a wrong password fewer than ten times in any ten minutes', async () => {
    for (const random of [0, 0.999]) {
      const scene = new Scene({ setUp: true, random });
      scene.registration.start();
      const refused: number[] = [];
      while (refused.length < 40) {
        await wrong(scene);
        refused.push(scene.clock.now());
        scene.clock.advance((scene.registration.state.nextTryAt ?? 0) - scene.clock.now());
      }
      const most = Math.max(
        ...refused.map((at) => refused.filter((t) => t >= at && t < at + 600_000).length),
      );
      expect(most).toBe(9);
    }
  });

  it('is tried at once when the record changes, and frequent retries start again', async () => {
    const scene = new Scene();
    scene.registration.start();
    await wrong(scene);
    expect(scene.registration.state.nextTryAt).toBe(scene.clock.now() + 300_000);
    scene.clock.advance(60_000);
    scene.registration.setUpAgain();
    expect(scene.registration.state).toMatchObject({ state: 'registering', nextTryAt: null });
    await wrong(scene);
    expect(scene.registration.state.nextTryAt).toBe(scene.clock.now() + 4_000);
  });

  it('is not tried more often than every five seconds, however often the record changes', async () => {
    const scene = new Scene({ random: 1 });
    const begun = scene.clock.now();
    scene.registration.start();
    const tried: number[] = [];
    for (let second = 0; second < 30; second++) {
      await settled();
      if (scene.requests.length > 0) {
        tried.push(scene.clock.now() - begun);
        await wrong(scene);
      }
      scene.registration.setUpAgain();
      scene.clock.advance(1_000);
    }
    expect(tried).toEqual([0, 5_000, 10_000, 15_000, 20_000, 25_000]);
  });

  it('waits no longer than its pause when the clock is set back an hour', async () => {
    const scene = new Scene();
    scene.registration.start();
    await wrong(scene);
    scene.clock.jump(-3_600_000);
    scene.registration.setUpAgain();
    expect(scene.registration.state.nextTryAt).toBe(scene.clock.now() + 5_000);
    scene.registration.engineLost();
    scene.registration.start();
    scene.clock.advance(300_000);
    expect((await scene.request()).message.method).toBe('REGISTER');
  });

  it('waits its whole pause when the clock is set forward an hour', async () => {
    const scene = new Scene();
    scene.registration.start();
    await wrong(scene);
    scene.clock.jump(3_600_000);
    scene.registration.engineLost();
    scene.registration.start();
    scene.clock.advance(299_999);
    await scene.nothingSent();
    scene.clock.advance(1);
    expect((await scene.request()).message.method).toBe('REGISTER');
  });

  it('sends nothing to a registrar that has the binding when the record changes', async () => {
    const scene = new Scene();
    await scene.registered();
    scene.registration.setUpAgain();
    await scene.nothingSent();
  });

  it('does not contact a registrar that rejected it, even when the engine was lost meanwhile', async () => {
    const scene = new Scene();
    scene.registration.start();
    await wrong(scene);
    const before = scene.registration.state;
    for (let losses = 0; losses < 3; losses++) {
      scene.clock.advance(50_000);
      scene.registration.engineLost();
      scene.registration.start();
      await scene.nothingSent();
    }
    expect(scene.registration.state).toEqual(before);
    scene.clock.advance(150_000);
    await scene.request();
  });
});

describe('a registration with an order to try now', () => {
  it('does not wait, and reports its outcome once', async () => {
    const scene = new Scene();
    scene.registration.start();
    (await scene.request()).answer(403);
    const reported: string[] = [];
    scene.registration.tryNow(() => reported.push(scene.registration.state.state));
    expect(scene.registration.state).toMatchObject({ state: 'registering', nextTryAt: null });
    const { answer } = await scene.request();
    expect(reported).toEqual([]);
    answer(200);
    scene.clock.advance(1_000);
    expect(reported).toEqual(['registered']);
  });

  it('refreshes a binding', async () => {
    const scene = new Scene();
    await scene.registered();
    const reported: string[] = [];
    scene.registration.tryNow(() => reported.push(scene.registration.state.state));
    const { message, answer } = await scene.request();
    expect(message.headers.CSeq).toBe('2 REGISTER');
    answer(200, { expires: '300' });
    expect(reported).toEqual(['registered']);
  });

  it('tries once more when a pending attempt that started before the order fails', async () => {
    const scene = new Scene();
    scene.registration.start();
    const early = await scene.request();
    const reported: string[] = [];
    scene.registration.tryNow(() => reported.push(scene.registration.state.state));
    early.answer(403);
    expect(reported).toEqual([]);
    (await scene.request()).answer(404);
    expect(reported).toEqual(['failed']);
    expect(scene.registration.state).toMatchObject({ sipCode: 404 });
    await scene.nothingSent();
  });

  it('notifies everyone waiting when the engine is lost or the record is removed', async () => {
    const scene = new Scene();
    await scene.registered();
    let reported = 0;
    scene.registration.tryNow(() => reported++);
    scene.registration.engineLost();
    expect(reported).toBe(1);
    scene.registration.tryNow(() => reported++);
    scene.registration.end(1_000, () => {});
    expect(reported).toBe(2);
    scene.registration.tryNow(() => reported++);
    expect(reported).toBe(3);
  });
});
