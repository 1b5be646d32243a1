import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { currentRecordingKey } from '../recording-keys/index.ts';

let test: TestControl;
beforeAll(async () => {
  test = await startControl();
});
afterAll(() => test.close());

describe('what is recorded', () => {
  const ofEdge = async () => test.control.services.edgeConfig.snapshot();
  const choice = { mode: 'audio', announcement: 'spoken', announcement_text: 'Recorded.', pause_key: '*' };
  const filled = { mode: 'off', announcement: 'none', announcement_text: null, pause_key: null };

  it('is set for the organization; its edges get it with the public key alone', async () => {
    const patch = (recording: unknown) => test.call('PATCH', '/v1/org/settings', { body: { recording } });
    expect((await patch({ mode: 'off' })).body.data?.recording).toEqual(filled);
    expect((await patch(choice)).body.data?.recording).toEqual(choice);
    const found = (await ofEdge()).organizations.find(({ org_id }) => org_id === test.orgId)?.recording;
    const key = await currentRecordingKey(test.control.services.database.db);
    expect(found).toEqual({ ...key, choice });
    expect((await patch(null)).body.data?.recording).toBeNull();
    expect((await ofEdge()).organizations.map(({ recording }) => recording)).toContainEqual(key);
  });

  it('is set for a number, and cleared', async () => {
    const number = '+14155550142';
    await test.call('POST', '/v1/sip/attach', {
      body: { phone_numbers: [number], directions: ['inbound'] },
    });
    const set = (recording: unknown) =>
      test.call('POST', `/v1/inbound/${number}`, { body: { prompt: 'Be kind.', recording } });
    const found = async () => (await ofEdge()).numbers.find((one) => one.number === number)?.agent?.recording;
    expect((await set(choice)).status).toBe(200);
    expect((await test.call('GET', `/v1/inbound/${number}`)).body.recording).toEqual(choice);
    expect(await found()).toEqual(choice);
    expect((await set(null)).status).toBe(200);
    expect(await found()).toBeUndefined();
  });

  it('needs a text for a spoken announcement, wherever it is set', async () => {
    const body = { recording: { mode: 'audio', announcement: 'spoken', announcement_text: ' ' } };
    for (const answer of [
      await test.call('PATCH', '/v1/org/settings', { body }),
      await test.call('POST', '/v1/inbound/+14155550142', { body }),
      await test.call('POST', '/v1/calls', { body: { ...body, phone_number: '+14155550123', task: 'Hi' } }),
    ]) {
      expect(answer.codes).toEqual(['INVALID_PARAMETER']);
      expect(answer.errors[0]?.details?.path).toBe('/recording/announcement_text');
    }
  });
});
