import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mostNoises, NoiseAnswer, NoiseList } from '#shared/api/agent-testing/noises.ts';
import { g711 } from '#shared/g711.ts';
import { dbovOf, squaresOf } from '#shared/level.ts';
import { readWav } from '#shared/models/wav.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { noiseFile } from '../../../test/kit/control/noises.ts';
import { bookingGraph, TestingClient } from '../../../test/kit/control/test-runs.ts';

let test: TestControl;
let client: TestingClient;
beforeAll(async () => {
  test = await startControl();
  client = new TestingClient(test);
});
afterAll(() => test.close());

const upload = (wav: string, asked = client) => asked.call('POST', '/noises', { name: 'Street', wav });
const made = async (wav = noiseFile()) => (await upload(wav)).read(NoiseAnswer).id;

describe('a noise', () => {
  it('is uploaded, listed, read and deleted by its organization alone', async () => {
    const id = await made(noiseFile({ seconds: 2 }));
    const other = new TestingClient(test, test.foreignKey);
    for (const method of ['GET', 'DELETE'] as const)
      expect((await other.call(method, `/noises/${id}`)).codes).toEqual(['TEST_NOISE_NOT_FOUND']);
    expect((await other.call('GET', '/noises')).read(NoiseList).noises).toEqual([]);
    const view = { id, name: 'Street', seconds: 2, created_at: expect.any(String) };
    expect((await client.call('GET', `/noises/${id}`)).body).toMatchObject(view);
    expect((await client.call('GET', '/noises')).read(NoiseList).noises).toEqual([view]);
    const sound = await client.call('GET', `/noises/${id}/sound`);
    expect(sound.headers['content-type']).toBe('audio/wav');
    const { sampleRate, samples } = readWav(sound.bytes);
    expect([sampleRate, samples.length]).toEqual([8000, 16_000]);
    expect(dbovOf(squaresOf(samples), samples.length)).toBeCloseTo(-15.3, 0);
    expect((await other.call('GET', `/noises/${id}/sound`)).codes).toEqual(['TEST_NOISE_NOT_FOUND']);
    expect((await client.call('DELETE', `/noises/${id}`)).status).toBe(200);
    expect((await client.call('GET', `/noises/${id}`)).codes).toEqual(['TEST_NOISE_NOT_FOUND']);
  });

  it('is kept as a telephone carries it, whatever its rate', async () => {
    const { db } = test.control.services.database;
    for (const sampleRate of [8000, 44_100]) {
      const id = await made(noiseFile({ sampleRate, amplitude: 10_000 }));
      const { audio } = await db
        .selectFrom('test_noises')
        .select('audio')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const samples = Int16Array.from(
        Buffer.from(audio, 'base64'),
        (octet) => g711.PCMU.toLinear[octet] ?? 0,
      );
      expect(samples).toHaveLength(8000);
      // A sine of 10,000: 20 log10(10000 / 32768) - 3.
      expect(dbovOf(squaresOf(samples), samples.length)).toBeCloseTo(-13.3, 0);
      await client.call('DELETE', `/noises/${id}`);
    }
  });

  it.each([
    [
      'no WAV file',
      Buffer.from('RIFF, more or less, in some way or other').toString('base64'),
      'not a WAV file',
    ],
    ['no base64', 'a b', 'base64'],
    ['a rate of its own', noiseFile({ sampleRate: 8001 }), '8001 samples per second'],
    ['half a second', noiseFile({ seconds: 0.5 }), '0.5 s'],
    ['31 seconds', noiseFile({ seconds: 31 }), '31.0 s'],
    ['silence', noiseFile({ amplitude: 10 }), 'quieter than'],
  ])('is refused with %s', async (_, wav, why) => {
    const [error] = (await upload(wav)).errors;
    expect([error?.code, error?.details?.path]).toEqual(['INVALID_PARAMETER', '/wav']);
    expect(JSON.stringify(error)).toContain(why);
  });

  it('is one of a limited number', async () => {
    const ids: string[] = [];
    for (let count = 0; count < mostNoises; count++) ids.push(await made());
    expect((await upload(noiseFile())).codes).toEqual(['QUOTA_EXCEEDED']);
    for (const id of ids) await client.call('DELETE', `/noises/${id}`);
    await made();
  });
});

describe('a weather with a given noise', () => {
  it('names a noise of the organization, and only with this kind', async () => {
    const pathway_id = await client.pathway(bookingGraph);
    const scenario = await client.scenario({ pathway_id });
    const place = async (noise: object) => {
      const order = { transport: 'sip', phone_number: '+14155550100', weather: { noise } };
      const [error] = (await client.call('POST', `/scenarios/${scenario}/run`, order)).errors;
      return error?.code === 'INVALID_PARAMETER' ? error.details?.path : error?.code;
    };
    const other = new TestingClient(test, test.foreignKey);
    const theirs = (await upload(noiseFile(), other)).read(NoiseAnswer).id;
    const at = '/weather/noise/noise_id';
    expect(await place({ kind: 'given', snr_db: 10 })).toBe(at);
    expect(await place({ kind: 'street', snr_db: 10, noise_id: theirs })).toBe(at);
    expect(await place({ kind: 'given', snr_db: 10, noise_id: theirs })).toBe(at);
    // The number is looked at next.
    expect(await place({ kind: 'given', snr_db: 10, noise_id: await made() })).toBe('NUMBER_NOT_TESTABLE');
    const weathers = [{ name: 'theirs', weather: { noise: { kind: 'given', snr_db: 1, noise_id: theirs } } }];
    const matrix = { scenario_id: scenario, transport: 'sip', phone_number: '+14155550100', weathers };
    expect((await client.call('POST', '/matrices', matrix)).errors[0]?.details?.path).toBe(
      '/weathers/0/weather/noise/noise_id',
    );
  });
});
