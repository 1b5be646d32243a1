/** Keys that the real worker makes: octets of the system's generator, and of nothing that can be guessed. */
import { createWorker } from 'mediasoup';
import { expect, test } from 'vitest';
import { testWorkerBin } from '../../test/kit/fakes/media-worker.ts';

const octets = 30;
const count = 2000;

/** SRTP keys of so many transports of a worker of its own, one after the other. */
async function keysOf(count: number): Promise<Buffer[]> {
  const worker = await createWorker({ workerBin: testWorkerBin() });
  try {
    const router = await worker.createRouter();
    const keys: Buffer[] = [];
    for (let i = 0; i < count; i++) {
      const transport = await router.createPlainTransport({
        // No port of a test that runs beside this one.
        listenInfo: { protocol: 'udp', ip: '127.0.0.1', portRange: { min: 31_900, max: 31_999 } },
        enableSrtp: true,
        srtpCryptoSuite: 'AES_CM_128_HMAC_SHA1_80',
      });
      keys.push(Buffer.from(transport.srtpParameters?.keyBase64 ?? '', 'base64'));
      transport.close();
    }
    return keys;
  } finally {
    worker.close();
  }
}

test('SRTP keys are 30 octets of any value, evenly spread over all places, and none comes twice', async () => {
  const [one, other] = await Promise.all([keysOf(count), keysOf(count)]);
  const keys = [...one, ...other];
  expect(keys.filter(({ length }) => length !== octets)).toEqual([]);
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(2 * count);

  // Each octet of a random key has each value with 1/256: 120,000 of them leave out none, whatever the seed.
  const seen = new Uint32Array(256);
  for (const key of keys) for (const octet of key) seen[octet] = (seen[octet] ?? 0) + 1;
  expect(seen.indexOf(0)).toBe(-1);
  // 468.75 of each are due with a deviation of 21.6: eight of these away is one run in 10^12.
  const due = (2 * count * octets) / 256;
  expect([...seen].filter((times) => Math.abs(times - due) > 8 * Math.sqrt(due))).toEqual([]);

  // Each of the 240 bits of a key is set in half of the keys, give or take eight deviations of sqrt(4000) / 2.
  const bits = Array.from(
    { length: 8 * octets },
    (_, bit) => keys.filter((key) => ((key[bit >> 3] ?? 0) >> (bit & 7)) & 1).length,
  );
  expect(bits.filter((times) => Math.abs(times - count) > 4 * Math.sqrt(2 * count))).toEqual([]);
});

test('ICE passwords keep to the letters and digits that RFC 8839 allows, and none comes twice', async () => {
  const worker = await createWorker({ workerBin: testWorkerBin() });
  try {
    const router = await worker.createRouter();
    const secrets: string[] = [];
    for (let i = 0; i < 200; i++) {
      const transport = await router.createWebRtcTransport({
        listenInfos: [{ protocol: 'udp', ip: '127.0.0.1' }],
      });
      const { usernameFragment, password } = transport.iceParameters;
      secrets.push(usernameFragment, password);
      transport.close();
    }
    expect(secrets.filter((secret) => !/^[0-9a-z]{32}$/.test(secret))).toEqual([]);
    expect(new Set(secrets).size).toBe(secrets.length);
    expect(new Set(secrets.join('')).size).toBe(36);
  } finally {
    worker.close();
  }
});
