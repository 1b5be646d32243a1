/** Consent (RFC 7675) against a real media worker; handshakes are in browser-leg.test.ts, a browser in test/system. */
import { createWorker } from 'mediasoup';
import { expect, test } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { checkOnce } from '../../test/kit/fakes/ice-peer.ts';
import { testWorkerBin } from '../../test/kit/fakes/media-worker.ts';
import { BrowserLost } from '../call/refused.ts';
import { BrowserTransport } from './browser-transport.ts';

const port = 34_795;

test('a browser that checks no more is gone after the time that its consent lasts', async () => {
  const worker = await createWorker({ workerBin: testWorkerBin(), logLevel: 'error' });
  try {
    const lost = Promise.withResolvers<BrowserLost>();
    const transport = await BrowserTransport.open({
      router: await worker.createRouter(),
      listenIp: '127.0.0.1',
      port,
      clock: systemClock,
      lost: lost.resolve,
      consentS: 1,
    });
    const { ufrag, pwd } = transport.keys.ice;
    const candidate = `a=candidate:1 1 udp 1 127.0.0.1 ${port} typ host`;
    expect(await checkOnce([`a=ice-ufrag:${ufrag}`, `a=ice-pwd:${pwd}`, candidate].join('\n'))).toBe(0x0101);
    const error = await lost.promise;
    expect(error).toBeInstanceOf(BrowserLost);
    expect(error.message).toBe('The browser is gone: no ICE check arrived for 1 s.');
    expect(transport.worker.iceState).toBe('disconnected');
    transport.close();
  } finally {
    worker.close();
  }
});
