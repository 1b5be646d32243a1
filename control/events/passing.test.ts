/** Events that are not stored: quality samples of live calls. */
import { describe, expect, it } from 'vitest';
import type { QualitySample } from '#shared/edge-protocol/measured.ts';
import { callRecord, connectEdge, reportFrame } from '../../test/kit/control/edge-client.ts';
import { FollowedEvents } from '../../test/kit/control/events.ts';
import { startControl } from '../../test/kit/control/harness.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';
import { PassingEvents } from './passing.ts';
import type { Happening } from './types.ts';

const sample = (at: number): QualitySample => [
  ...([at, 5000, 0, 250, 2, 1, 3.4, 40] as const),
  ...([-22.5, 250, 1.6, -18, 31, 4.21, 4.3, 0.4] as const),
];
const happening = (call: string, at_ms: number, orgId = 'a'): Happening => ({
  orgId,
  type: 'quality.sample',
  at: '2030-01-01T00:00:00.000Z',
  subject: { call_id: call },
  data: { sample: { at_ms } },
});
const told = (text: string) =>
  [...text.matchAll(/"call_id":"(\w+)".*?"at_ms":(\d+)/g)].map(([, call, at]) => `${call} ${at}`);

describe('a reader of events that are not stored', () => {
  it('that is slow gets the newest of each subject, of as many as may wait, and some at a time', () => {
    const events = new PassingEvents();
    let woken = 0;
    const reader = events.watch(
      'a',
      () => true,
      3,
      () => woken++,
    );
    for (let at = 1; at <= 1_000; at++) events.tell(happening(`c${at % 4}`, at));
    events.tell(happening('c9', 1, 'b'));
    expect(woken).toBe(1_000);
    expect(told(reader.take(1))).toEqual(['c2 998']);
    expect(reader.isWaiting).toBe(true);
    expect(told(reader.take(10_000))).toEqual(['c3 999', 'c0 1000']);
    expect(reader.isWaiting).toBe(false);
    expect(events.isWatched).toBe(true);
    reader.close();
    expect(events.isWatched).toBe(false);
  });

  it('gets the newest sample of each call of its organization that it asks for, and nobody else gets any', async () => {
    const test = await startControl({ EXPECT_EDGE: 'true' });
    const edge = await connectEdge(test);
    const readers: FollowedEvents[] = [];
    const follow = async (query: string, key = test.key) => {
      const reader = await FollowedEvents.open(test, { query, key });
      readers.push(reader);
      return reader;
    };
    try {
      const [one, two, foreign] = [1, 2, 3].map((last) => `00000000-0000-4000-8000-00000000000${last}`);
      const all = await follow('?types=quality,call.begun');
      const second = await follow(`?types=quality.sample&call_id=${two}`);
      const usual = await follow('');
      const other = await follow('?types=quality', test.foreignKey);
      const live = { ended_at: null, answered_at: null, termination: null, hangup_by: null, media: null };
      const call = (id = '', org = test.orgId) =>
        ({ type: 'call', call: callRecord(org, { id, status: 'ringing', ...live }) }) as const;
      const measured = (call_id: string | undefined, ...at: number[]) => ({
        call_id: call_id ?? '',
        quality: [{ part: 0, samples: at.map(sample), whole: false }],
        marks: [],
      });
      const calls = [measured(one, 5_000, 10_000), measured(two, 5_000), measured(foreign, 5_000)];
      edge.send(
        reportFrame(1, [
          call(one),
          call(two),
          call(foreign, test.foreignOrgId),
          { type: 'measured', calls: [...calls, measured('unknown', 5_000)] },
        ]),
      );
      await edge.next('ack');
      edge.send(reportFrame(5, [{ type: 'measured', calls: [measured(two, 10_000)] }, call(one)]));
      const samples = ({ received }: FollowedEvents) =>
        received
          .filter(({ event }) => event === 'quality.sample')
          .map(({ data, id }) => [data.subject?.call_id, data.data?.sample, id]);
      const seen = (at_ms: number) => expect.objectContaining({ at_ms, mos: 4.21, relayed: false });
      await second.until('both samples', () => samples(second)[1]);
      await all.until('all samples', () => samples(all)[2]);
      await usual.until('the last event', () => usual.types.includes('call.updated') || null);
      await other.until('its sample', () => samples(other)[0]);
      expect(samples(all)).toEqual([
        [one, seen(10_000), undefined],
        [two, seen(5_000), undefined],
        [two, seen(10_000), undefined],
      ]);
      expect(samples(second)).toEqual(samples(all).slice(1));
      expect(samples(other)).toEqual([[foreign, seen(5_000), undefined]]);
      expect(samples(usual)).toEqual([]);
      const rows = await test.control.services.database.db.selectFrom('events').select('body').execute();
      expect(JSON.stringify(rows)).not.toContain('quality');
    } finally {
      for (const reader of readers) reader.leave();
      await releaseAll(
        () => edge.kill(),
        () => test.close(),
      );
    }
  });
});
