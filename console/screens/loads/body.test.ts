import { describe, expect, it } from 'vitest';
import { loadBody } from './body.ts';

const form = {
  scenarios: ['a', 'b'],
  transport: 'sip',
  number: '+14155550100',
  from: '2',
  to: '6',
  step: '2',
  runs: '20',
  version: '',
};

describe('what the form of a load sends', () => {
  it('is a ramp from its first level to its last', () => {
    expect(loadBody(form)).toEqual({
      scenario_ids: ['a', 'b'],
      ramp: { from: 2, to: 6, step: 2 },
      runs_per_level: 20,
      transport: 'sip',
      phone_number: '+14155550100',
    });
  });

  it('is one level when the last is not above the first, without a number in text', () => {
    expect(loadBody({ ...form, to: '2', transport: 'text', number: '', version: '3' })).toEqual({
      scenario_ids: ['a', 'b'],
      concurrency: 2,
      runs_per_level: 20,
      transport: 'text',
      version_number: 3,
    });
  });
});
