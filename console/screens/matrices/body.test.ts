import { describe, expect, it } from 'vitest';
import { matrixBody, offeredWeathers } from './body.ts';

const form = { scenario: 's', versions: '', repeats: '10' };
const offered = offeredWeathers([{ id: 'n', name: 'Our lobby' }]);

describe('what the form of a matrix sends', () => {
  it('is in text what the scenario says, or the versions that are named', () => {
    expect(matrixBody({ ...form, call: null }, offered)).toEqual({ scenario_id: 's', repeats: 10 });
    expect(matrixBody({ ...form, versions: '1, 2 0', call: null }, offered)).toMatchObject({
      versions: [1, 2, 0],
    });
  });

  it('has over a call voices and weathers, also with a noise of one’s own', () => {
    const call = { number: '+14155550100', voices: 'anna\n\nben ', weathers: ['n', 'calm'] };
    expect(matrixBody({ ...form, call }, offered)).toEqual({
      scenario_id: 's',
      repeats: 10,
      transport: 'sip',
      phone_number: '+14155550100',
      voices: ['anna', 'ben'],
      weathers: [
        { name: 'calm', weather: {} },
        { name: 'Our lobby, 10 dB', weather: { noise: { kind: 'given', noise_id: 'n', snr_db: 10 } } },
      ],
    });
    const bare = matrixBody({ ...form, call: { number: '', voices: '', weathers: [] } }, offered);
    expect(bare).toEqual({ scenario_id: 's', repeats: 10, transport: 'sip' });
  });
});
