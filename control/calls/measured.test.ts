/** Quality series and timelines over the HTTP API, from reports of an edge. */
import { beforeEach, describe, expect, it } from 'vitest';
import { CallQuality, CallTimeline } from '#shared/api/call-quality.ts';
import { type MeasuredCall, mostSampledMs, type QualitySample } from '#shared/edge-protocol/measured.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { newTimedId } from '#shared/ids.ts';
import { callRecord } from '../../test/kit/control/edge-client.ts';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { createReportStore } from '../report-writers.ts';
import { turnsOf } from './measured-rules.ts';

const test = routesOfFile({ RATE_LIMIT_PER_MINUTE: '10000' });
let store: ReturnType<typeof createReportStore>;
let seq = 0;
beforeEach(async () => {
  store = createReportStore(test.control.services.database, test.clock);
});

async function report(...bodies: ReportBody[]): Promise<void> {
  const at = new Date(test.clock.now()).toISOString();
  const frame = bodies.map((body) => ({ seq: ++seq, at, body }));
  expect((await store.store({ edgeId: 'e', outboxId: 'o' }, frame)).rejected).toEqual([]);
}

const began = '2030-01-01T00:00:00.000Z';
const live = { ended_at: null, termination: null, hangup_by: null, media: null };

/** A call that is up, unless the changes say otherwise. @returns its id */
async function call(changes: Parameters<typeof callRecord>[1] = live, orgId = test.orgId): Promise<string> {
  const id = newTimedId(test.clock.now());
  const record = { id, sip_call_id: id, started_at: began, ...changes };
  await report({ type: 'call', call: callRecord(orgId, record) });
  return id;
}

const sample = (at: number): QualitySample => [
  at,
  5000,
  0,
  250,
  2,
  1,
  3.4,
  40,
  -22.5,
  250,
  1.6,
  -18,
  31,
  4.21,
  4.3,
  0.4,
];

const measured = (call_id: string, changes: Partial<MeasuredCall>): ReportBody => ({
  type: 'measured',
  calls: [{ call_id, quality: [], marks: [], ...changes }],
});

const part = (number: number, samples: readonly QualitySample[], whole = false) => ({
  part: number,
  samples: [...samples],
  whole,
});

async function qualityOf(id: string, query = '') {
  const answer = await test.call('GET', `/v1/sip/calls/${id}/quality${query}`);
  expect(answer.status).toBe(200);
  return answer.read(CallQuality).data;
}

async function timelineOf(id: string, query = '') {
  const answer = await test.call('GET', `/v1/sip/calls/${id}/timeline${query}`);
  expect(answer.status).toBe(200);
  return answer.read(CallTimeline).data;
}

describe('GET /v1/sip/calls/{call_id}/quality', () => {
  it('has the samples of a call in progress, and says how old the last report is', async () => {
    const id = await call();
    await report(measured(id, { quality: [part(0, [sample(5000)])] }));
    await report(measured(id, { quality: [part(0, [sample(10_000)])] }));
    test.clock.advance(3000);
    const quality = await qualityOf(id);
    expect(quality).toMatchObject({ id, started_at: began, ended_at: null, age_ms: 3000, truncated: false });
    expect(quality.samples.map(({ at_ms }) => at_ms)).toEqual([5000, 10_000]);
    expect(quality.samples[0]).toEqual({
      at_ms: 5000,
      duration_ms: 5000,
      relayed: false,
      held: false,
      packets_received: 250,
      packets_lost: 2,
      packets_late: 1,
      jitter_ms: 3.4,
      jitter_buffer_ms: 40,
      level_received_dbov: -22.5,
      packets_sent: 250,
      peer_loss_percent: 1.6,
      level_sent_dbov: -18,
      round_trip_ms: 31,
      mos: 4.21,
      mos_received: 4.21,
      mos_sent: 4.3,
      clock_late_ms: 0.4,
    });
    expect((await qualityOf(id, '?after_ms=5000')).samples.map(({ at_ms }) => at_ms)).toEqual([10_000]);
  });

  it('has them after the call, then without an age', async () => {
    const id = await call({ ended_at: '2030-01-01T00:01:00.000Z' });
    await report(measured(id, { quality: [part(0, [sample(5000)])] }));
    const quality = await qualityOf(id);
    expect(quality).toMatchObject({ ended_at: '2030-01-01T00:01:00.000Z', age_ms: null });
    expect(quality.samples).toHaveLength(1);
  });

  it('has a part that was reported whole in the place of what was there, also in one frame', async () => {
    const id = await call();
    await report(measured(id, { quality: [part(3, [sample(1), sample(2)])] }));
    await report(
      measured(id, { quality: [part(3, [sample(3)])] }),
      measured(id, { quality: [part(3, [sample(4)], true), part(3, [sample(5)])] }),
    );
    expect((await qualityOf(id)).samples.map(({ at_ms }) => at_ms)).toEqual([4, 5]);
    const { database } = test.control.services;
    const rows = await database.db
      .selectFrom('quality_parts')
      .select('part')
      .where('call_id', '=', id)
      .execute();
    expect(rows).toEqual([{ part: 3 }]);
  });

  it('changes nothing when a frame arrives again', async () => {
    const id = await call();
    const frame = [{ seq: ++seq, at: began, body: measured(id, { quality: [part(0, [sample(5000)])] }) }];
    await store.store({ edgeId: 'e', outboxId: 'o' }, frame);
    await store.store({ edgeId: 'e', outboxId: 'o' }, frame);
    expect((await qualityOf(id)).samples).toHaveLength(1);
  });

  it('has the whole series of a call of 12 hours, in the order of time', async () => {
    const id = await call({ ended_at: '2030-01-01T12:00:00.000Z' });
    const parts = Array.from({ length: 115 }, (_, number) =>
      part(
        number,
        Array.from({ length: 12 }, (_, index) => sample((number * 12 + index + 1) * 5000)),
      ),
    );
    await report(measured(id, { quality: parts }));
    const { samples, truncated } = await qualityOf(id);
    expect(samples).toHaveLength(1380);
    expect(samples.map(({ at_ms }) => at_ms)).toEqual(samples.map((_, index) => (index + 1) * 5000));
    expect(truncated).toBe(false);
  });

  it('says so when a call went on for longer than samples are kept', async () => {
    const ended_at = new Date(Date.parse(began) + mostSampledMs + 1).toISOString();
    expect((await qualityOf(await call({ ended_at }))).truncated).toBe(true);
  });

  it('is empty for a call without media', async () => {
    expect(await qualityOf(await call())).toMatchObject({ reported_at: null, age_ms: null, samples: [] });
  });

  it.each(['quality', 'timeline'])('of another organization, or of none, is 404: %s', async (what) => {
    const id = await call(live, test.foreignOrgId);
    await report(measured(id, { quality: [part(0, [sample(1)])], marks: [[0, 'sound', 1]] }));
    for (const one of [id, newTimedId(0)]) {
      const answer = await test.call('GET', `/v1/sip/calls/${one}/${what}`);
      expect([answer.status, answer.codes]).toEqual([404, ['CALL_NOT_FOUND']]);
    }
    const key = test.foreignKey;
    expect((await test.call('GET', `/v1/sip/calls/${id}/${what}`, { key })).status).toBe(200);
  });
});

describe('GET /v1/sip/calls/{call_id}/timeline', () => {
  it('has the spans of each turn, on the axis of the samples', async () => {
    const id = await call();
    await report(
      measured(id, {
        marks: [
          [0, 'decided', 100],
          [0, 'sound', 900],
          [1, 'voice', 4000],
        ],
      }),
      measured(id, {
        marks: [
          [0, 'end', 3000],
          [1, 'pause', 5200],
          [1, 'turn', 5600],
          [1, 'words', 5700],
          [1, 'token', 5900],
          [1, 'decided', 6000],
          [1, 'sound', 6200],
        ],
      }),
    );
    const { turns, started_at } = await timelineOf(id);
    expect(started_at).toBe(began);
    expect(turns).toEqual([
      {
        turn: 0,
        input: null,
        from_ms: 100,
        response_ms: null,
        spans: [
          { span: 'understood', from_ms: 100, to_ms: 100 },
          { span: 'speech_first_sound', from_ms: 100, to_ms: 900 },
          { span: 'agent_speech', from_ms: 900, to_ms: 3000 },
        ],
      },
      {
        turn: 1,
        input: 'speech',
        from_ms: 4000,
        response_ms: 1000,
        spans: [
          { span: 'caller_speech', from_ms: 4000, to_ms: 5200 },
          { span: 'heard', from_ms: 5200, to_ms: 5700 },
          { span: 'understood', from_ms: 5700, to_ms: 6000 },
          { span: 'model_first_token', from_ms: 5700, to_ms: 5900 },
          { span: 'speech_first_sound', from_ms: 6000, to_ms: 6200 },
          { span: 'agent_speech', from_ms: 6200, to_ms: null },
        ],
      },
    ]);
  });

  it('has thousands of turns in pages, in few rows', async () => {
    const id = await call();
    const marks = Array.from({ length: 3000 }, (_, turn): MeasuredCall['marks'][number] => [
      turn,
      'keys',
      turn * 1000,
    ]);
    await report(measured(id, { marks }));
    const seen: number[] = [];
    for (let query = '?limit=500'; ; query = `?limit=500&after=${seen.at(-1)}`) {
      const { turns } = await timelineOf(id, query);
      seen.push(...turns.map(({ turn }) => turn));
      if (turns.length < 500) break;
    }
    expect(seen).toEqual(marks.map(([turn]) => turn));
    expect((await timelineOf(id)).turns).toHaveLength(100);
    const { database } = test.control.services;
    const rows = await database.db
      .selectFrom('turn_parts')
      .select('part')
      .where('call_id', '=', id)
      .execute();
    expect(rows).toHaveLength(375);
  });

  it('rejects pages that are too large', async () => {
    const answer = await test.call('GET', `/v1/sip/calls/${await call()}/timeline?limit=501`);
    expect(answer.codes).toEqual(['INVALID_PARAMETER']);
  });
});

describe('turns', () => {
  it('have each barge-in, and how it ended', () => {
    const [turn] = turnsOf([
      [4, 'sound', 100],
      [4, 'held', 500],
      [4, 'resumed', 800],
      [4, 'held', 1000],
      [4, 'cut', 1400],
    ]);
    expect(turn?.spans.filter(({ span }) => span === 'barge_in')).toEqual([
      { span: 'barge_in', from_ms: 500, to_ms: 800, outcome: 'resumed' },
      { span: 'barge_in', from_ms: 1000, to_ms: 1400, outcome: 'interrupted' },
    ]);
  });

  it('have a barge-in that lasted until the end of the speech', () => {
    const marks: MeasuredCall['marks'] = [
      [4, 'sound', 100],
      [4, 'held', 500],
    ];
    const bargeIn = (more: MeasuredCall['marks']) => turnsOf([...marks, ...more])[0]?.spans.at(-1);
    expect(bargeIn([])).toEqual({ span: 'barge_in', from_ms: 500, to_ms: null });
    const ended = { span: 'barge_in', from_ms: 500, to_ms: 900, outcome: 'resumed' };
    expect(bargeIn([[4, 'end', 900]])).toEqual(ended);
  });

  it('whose answer was asked for in the pause have spans that end before the words are final', () => {
    const [turn] = turnsOf([
      [2, 'voice', 0],
      [2, 'pause', 1000],
      [2, 'words', 1700],
      [2, 'token', 1400],
      [2, 'decided', 1500],
      [2, 'sound', 1750],
    ]);
    expect(turn).toMatchObject({ response_ms: 750 });
    expect(turn?.spans).toContainEqual({ span: 'model_first_token', from_ms: 1400, to_ms: 1400 });
    expect(turn?.spans).toContainEqual({ span: 'understood', from_ms: 1500, to_ms: 1500 });
    for (const { from_ms, to_ms } of turn?.spans ?? [])
      expect(to_ms ?? from_ms).toBeGreaterThanOrEqual(from_ms);
  });
});
