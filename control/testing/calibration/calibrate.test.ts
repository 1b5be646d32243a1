import { beforeEach, describe, expect, it } from 'vitest';
import { Calibration } from '#shared/api/agent-testing/calibration.ts';
import { faultyGraph, soundBooking } from '../../../test/kit/control/dental.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TestingClient } from '../../../test/kit/control/test-runs.ts';

const test = emptiedForEach(startControl);
let client: TestingClient;
beforeEach(async () => {
  client = new TestingClient(test);
});

const assertion = { type: 'LLM_JUDGE', config: { prompt: 'Polite?\nRubric:\n- agent says one of: "sorry"' } };
const said = (content: string, verdict: 'pass' | 'fail', more: object = {}) => ({
  transcript: [{ role: 'assistant', content }],
  verdict,
  ...more,
});
const calibrate = (body: object) => client.call('POST', '/judges/calibrate', body);

describe('the calibration of a judge', () => {
  it('counts where it agrees with people, and answers agreement and kappa with intervals', async () => {
    const undecidable = { type: 'LLM_JUDGE', config: { prompt: 'Is it poetry?' } };
    const answer = await calibrate({
      assertion,
      labelled: [
        said('I am sorry.', 'pass'),
        said('So sorry about that.', 'pass'),
        said('Sorry, Sam.', 'fail'),
        said('Next.', 'fail'),
        said('Well.', 'fail'),
        said('I apologize.', 'pass'),
        said('A rose.', 'pass', { assertion: undecidable }),
      ],
    });
    const body = answer.read(Calibration);
    // By hand: 2, 1, 1, 2 of 6; agreement 4/6, chance .5, kappa 1/3.
    expect(body).toMatchObject({
      judge: { deterministic: true },
      total: 7,
      decided: 6,
      confusion: { pass: { pass: 2, fail: 1, undecided: 1 }, fail: { pass: 1, fail: 2, undecided: 0 } },
      agreement: { value: 0.6667, interval: { low: 0.3, high: 0.9032 } },
      kappa: { value: 0.3333, interval: { low: -0.4211, high: 1 }, note: null },
    });
    expect(body.results.map(({ agrees }) => agrees)).toEqual([true, true, false, true, true, false, null]);
  });

  it('judges stored runs of the own organization only, and says that equal verdicts prove little', async () => {
    const pathway = await client.pathway(faultyGraph);
    const { id } = await client.run(await client.scenario({ pathway_id: pathway, ...soundBooking }));
    const booked = { type: 'STRING_CHECK', config: { value: 'booked', target: 'agent' } };
    const labelled = [{ run_id: id, assertion: booked, verdict: 'pass' }];
    expect((await calibrate({ labelled })).read(Calibration)).toMatchObject({
      confusion: { pass: { pass: 1 } },
      agreement: { value: 1 },
      kappa: { value: null, interval: null, note: expect.stringContaining('chance') },
    });
    const foreign = new TestingClient(test, test.foreignKey);
    expect((await foreign.call('POST', '/judges/calibrate', { labelled })).codes).toEqual(['RUN_NOT_FOUND']);
  });

  it.each([
    ['neither a run nor a transcript', [{ verdict: 'pass' }], '/labelled/0'],
    ['one conversation twice', [said('Hm.', 'pass'), said('Hm.', 'fail')], '/labelled/1'],
  ])('refuses %s', async (_what, labelled, path) => {
    const { errors, status } = await calibrate({ assertion, labelled });
    expect([status, errors[0]?.details]).toMatchObject([400, { path }]);
  });

  it('refuses what has no assertion', async () => {
    const { errors } = await calibrate({ labelled: [said('Hm.', 'pass')] });
    expect(errors[0]?.details).toMatchObject({ path: '/labelled/0/assertion' });
  });
});
