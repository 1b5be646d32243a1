import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { plan, settle } from '../../test/kit/edge/inbound-calls.ts';
import { loopback } from '../../test/kit/edge/loopback.ts';
import { recordingOrder } from '../../test/kit/edge/recordings.ts';
import { FakeRefer } from '../../test/kit/edge/transfer.ts';
import { FakeAgents } from '../../test/kit/fakes/fake-agents.ts';
import { FakeDialer } from '../../test/kit/fakes/fake-dialer.ts';
import { FakeRoutes, hopAt } from '../../test/kit/fakes/fake-hunt.ts';
import { FakeLeg } from '../../test/kit/fakes/fake-leg.ts';
import { FakeMedia, fakeAnswer } from '../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import type { CallPlan } from './call-plan.ts';
import { Calls } from './calls.ts';
import type { Agents } from './ports/agents.ts';
import type { Media, RecordingOrder } from './ports/media.ts';
import type { RecordedCall } from './ports/recordings.ts';

type Order = Omit<RecordingOrder, 'stopped' | 'paused'>;

let media: FakeMedia;
let agents: FakeAgents;
let calls: Calls;
let dialer: FakeDialer;
let routes: FakeRoutes;
let asked: RecordedCall[];
let counted: string[];
let reports: ReportBody[];
/** What the next call gets as its order. */
let order: Promise<Order> | null;

beforeEach(() => {
  media = new FakeMedia();
  agents = new FakeAgents();
  dialer = new FakeDialer();
  routes = new FakeRoutes();
  routes.hops = [hopAt(5061)];
  [asked, counted, reports] = [[], [], []];
  order = Promise.resolve(recordingOrder('recording-1'));
  calls = callsOf({ media, agents });
});

function callsOf(parts: { readonly media: Media; readonly agents: Agents }): Calls {
  let next = 1;
  return new Calls({
    ...parts,
    clock: new FakeClock(),
    log: new QuietLog(),
    newId: () => `id-${next++}`,
    maxCalls: 5,
    outbound: { routes, dialer, ringTimeoutMs: 30_000 },
    settings: { ringAfterMs: 200, prepareTimeoutMs: 5_000, mediaTimeoutMs: 60_000 },
    reporter: { report: (body) => reports.push(body) },
    recordings: {
      order: (call) => {
        asked.push(call);
        return order;
      },
      count: (what) => counted.push(what),
    },
  });
}

async function answered(of: CallPlan = plan): Promise<FakeLeg> {
  const leg = new FakeLeg();
  calls.admit(leg, of, ['PCMU']);
  await settle();
  leg.peer.answered();
  leg.peer.acknowledged(null);
  await settle();
  return leg;
}

const notes = () =>
  reports.flatMap((body) => (body.type === 'transcript' ? body.entries.map(({ text }) => text) : []));

describe('a recorded call', () => {
  it('is recorded from its answer on', async () => {
    await answered();
    expect(asked).toEqual([{ callId: 'id-1', orgId: 'org-1', agent: plan.agent }]);
    expect(media.last.recording).toMatchObject({ header: { id: 'recording-1' } });
    expect(counted).toEqual(['begun']);
  });

  it('is answered when its announcement is ready', async () => {
    const ready = Promise.withResolvers<Order>();
    order = ready.promise;
    const leg = new FakeLeg();
    calls.admit(leg, plan, ['PCMU']);
    await settle();
    expect(leg.sent).not.toContain('200');
    ready.resolve(recordingOrder('recording-1'));
    await settle();
    expect(leg.sent).toContain('200');
  });

  it('is paused and resumed, and its transcript says so', async () => {
    await answered();
    calls.record('id-1', 'pause');
    calls.record('id-1', 'resume');
    expect(media.last.recordingSteps).toEqual(['pause', 'resume']);
    expect(notes()).toEqual(['The recording was paused.', 'The recording was resumed.']);
  });

  it('has a line for each change, not for an order that changes nothing, and 100 at most', async () => {
    await answered();
    for (const action of ['pause', 'pause', 'resume', 'resume'] as const) calls.record('id-1', action);
    expect(notes()).toEqual(['The recording was paused.', 'The recording was resumed.']);
    for (let turn = 0; turn < 100; turn++) {
      calls.record('id-1', 'pause');
      calls.record('id-1', 'resume');
    }
    expect(notes()).toHaveLength(101);
    expect(notes().at(-1)).toBe('Further pauses of the recording are not listed.');
    expect(media.last.recordingSteps.at(-1)).toBe('resume');
  });

  it('is paused by its agent, also before its recording has begun', async () => {
    const leg = new FakeLeg();
    calls.admit(leg, plan, ['PCMU']);
    await settle();
    agents.last.host.recording?.('pause');
    leg.peer.answered();
    leg.peer.acknowledged(null);
    await settle();
    expect(media.last.recordingSteps).toEqual(['pause']);
    agents.last.host.recording?.('resume');
    expect(media.last.recordingSteps).toEqual(['pause', 'resume']);
  });

  it('is paused by its agent in a media shard too, which knows whether there is a recording', async () => {
    const { shard } = loopback(media, agents);
    calls = callsOf({ media: shard, agents: shard });
    const leg = new FakeLeg();
    calls.admit(leg, plan, ['PCMU']);
    await settle();
    const { host } = agents.last;
    expect(host.recording?.('pause')).toBe(true);
    leg.peer.answered();
    leg.peer.acknowledged(null);
    await settle();
    expect(host.recording?.('resume')).toBe(true);
    expect(media.last.recordingSteps).toEqual(['pause', 'resume']);
    media.last.recording?.stopped('edge_disk_full', 'no room');
    expect(host.recording?.('pause')).toBe(false);
    order = null;
    calls.admit(new FakeLeg(), plan, ['PCMU']);
    await settle();
    expect(agents.last.host.recording?.('pause')).toBe(false);
  });

  it('goes on when its recording stops, and its transcript has the reason', async () => {
    await answered();
    media.last.recording?.stopped('edge_disk_full', 'no room');
    expect(notes()).toEqual(['The recording stopped: there is no more room for recordings on the edge.']);
    expect(counted).toEqual(['begun', 'edge_disk_full']);
    expect(calls.size).toBe(1);
    expect(() => calls.record('id-1', 'pause')).toThrow('not being recorded');
  });

  it('goes on when it cannot be recorded', async () => {
    const leg = new FakeLeg();
    calls.admit(leg, plan, ['PCMU']);
    await settle();
    media.last.record = () => {
      throw new Error('no folder');
    };
    leg.peer.answered();
    leg.peer.acknowledged(null);
    await settle();
    expect(notes()).toEqual(['The recording could not begin.']);
    expect(counted).toEqual(['failed']);
    expect(calls.size).toBe(1);
  });
});

describe('a call whose agent continues with the target of its REFER', () => {
  async function continued(): Promise<FakeLeg> {
    const leg = await answered();
    order &&= Promise.resolve(recordingOrder('recording-2'));
    leg.peer.referred(new FakeRefer());
    await settle();
    return leg;
  }
  async function targetAnswers(): Promise<void> {
    dialer.last.peer.answered(fakeAnswer);
    await settle();
  }

  it('is recorded there, too', async () => {
    await continued();
    await targetAnswers();
    expect(media.legs.map(({ recording }) => recording?.header.id)).toEqual(['recording-1', 'recording-2']);
    expect(media.last.recordingSteps).toEqual([]);
  });

  it.each(['before', 'after'] as const)(
    'is paused there if it was, when the peer leaves %s the target has answered',
    async (when) => {
      const leg = await continued();
      calls.record('id-1', 'pause');
      // Then the target's leg has the agent before its media.
      if (when === 'before') leg.peer.bye();
      await targetAnswers();
      expect(media.last.recordingSteps).toEqual(['pause']);
      calls.record(calls.underWay().oldest.at(-1)?.id ?? '', 'resume');
      expect(media.last.recordingSteps).toEqual(['pause', 'resume']);
    },
  );

  it('is not recorded there when it was not, whatever is set since', async () => {
    const earlier = order;
    order = null;
    const leg = await answered();
    order = earlier;
    leg.peer.referred(new FakeRefer());
    await settle();
    await targetAnswers();
    expect(media.legs.map(({ recording }) => recording)).toEqual([null, null]);
  });
});

describe('calls whose peer joins whom it speaks with in both', () => {
  async function bridged(agent: number): Promise<FakeLeg> {
    const leg = await answered();
    void agents.created[agent]?.host.transfer({ target: '201', method: 'bridge', consult: null });
    await settle();
    dialer.last.peer.answered(fakeAnswer);
    await settle();
    return leg;
  }
  const ids = () => media.legs.map(({ recording }) => recording?.header.id ?? null);

  it('are recorded in one of those that are left, when the peer ends those that were', async () => {
    const own = await bridged(0);
    order &&= Promise.resolve(recordingOrder('recording-2'));
    const other = await bridged(1);
    expect(ids()).toEqual(['recording-1', null, 'recording-2', null]);
    order &&= Promise.resolve(recordingOrder('recording-3'));
    own.peer.referred(new FakeRefer('sip:edge.example.com', 'other'), other);
    await settle();
    expect(ids()).toEqual(['recording-1', 'recording-3', 'recording-2', null]);
  });

  it.each(['the agent', 'two others'])('are not recorded while that was paused: %s goes on', async (who) => {
    const own = who === 'the agent' ? await answered() : await bridged(0);
    calls.record('id-1', 'pause');
    order = null;
    const other = await bridged(1);
    order = Promise.resolve(recordingOrder('recording-2'));
    own.peer.referred(new FakeRefer('sip:edge.example.com', 'other'), other);
    await settle();
    const { recording, recordingSteps } =
      media.legs.find((leg) => leg.recording?.header.id === 'recording-2') ?? {};
    expect(recording).toBeDefined();
    expect(recordingSteps).toEqual(['pause']);
    expect(notes().filter((note) => note === 'The recording was paused.')).toHaveLength(2);
  });

  it.each([
    ['where the agent goes on', true, false, 'recording-3'],
    ['where the agent goes on, when the call that is replaced was', false, true, 'recording-3'],
    ['nowhere when nothing was', false, false, null],
  ])('are recorded %s', async (_where, ofAgent, replaced, expected) => {
    order = ofAgent ? Promise.resolve(recordingOrder('recording-1')) : null;
    const own = await answered();
    order = replaced ? Promise.resolve(recordingOrder('recording-2')) : null;
    const other = await bridged(1);
    order = Promise.resolve(recordingOrder('recording-3'));
    own.peer.referred(new FakeRefer('sip:edge.example.com', 'other'), other);
    await settle();
    expect(ids()).toEqual([ofAgent ? 'recording-1' : null, replaced ? 'recording-2' : null, expected]);
  });
});

describe('a pause', () => {
  const steps = () => media.legs.map(({ recordingSteps }) => recordingSteps.splice(0));
  const into = (place: string) => async (id: string) => {
    const outcome = await calls.find(id)?.transfers.order({ target: place, method: 'bridge', consult: null });
    expect(outcome).toEqual({ ok: true });
  };
  const enter = into('conference:sales');
  /** Answers of the shard. */
  const settled = async () => {
    for (let turn = 0; turn < 3; turn++) await settle();
  };

  async function recorded(count: number): Promise<string[]> {
    const { shard } = loopback(media, agents);
    calls = callsOf({ media: shard, agents: shard });
    for (let n = 0; n < count; n++) {
      order = Promise.resolve(recordingOrder(`recording-${n}`));
      await answered();
    }
    return calls.underWay().oldest.map(({ id }) => id);
  }

  it('by the API holds for all recordings of a conference, also of a call that comes meanwhile or leaves', async () => {
    const [a = '', b = '', c = ''] = await recorded(3);
    await enter(a);
    await enter(b);
    calls.record(a, 'pause');
    await settled();
    expect(steps()).toEqual([['pause'], ['pause with others'], []]);
    await enter(c);
    await settled();
    expect(steps()).toEqual([[], [], ['pause with others']]);
    calls.park(c, { slot: '7', timeoutMs: 60_000, atEnd: 'end' });
    await settled();
    expect(steps()).toEqual([[], [], ['resume with others']]);
    calls.record(a, 'resume');
    await settled();
    expect(steps()).toEqual([['resume'], ['resume with others'], []]);
    expect(notes()).toContain('The recording was paused with that of another call.');
  });

  it('of two calls ends with the second resume, and goes with the call that ordered it', async () => {
    const [a = '', b = '', c = ''] = await recorded(3);
    for (const id of [a, b, c]) await enter(id);
    calls.record(a, 'pause');
    calls.record(b, 'pause');
    await settled();
    expect(steps()[2]).toEqual(['pause with others']);
    calls.record(a, 'resume');
    await settled();
    expect(steps()[2]).toEqual([]);
    calls.stop(b);
    await settled();
    expect(steps()[2]).toEqual(['resume with others']);
  });

  it('that began before its call came holds for those who are there', async () => {
    const [a = '', b = ''] = await recorded(2);
    await enter(a);
    calls.record(b, 'pause');
    await settled();
    expect(steps()).toEqual([[], ['pause']]);
    await enter(b);
    await settled();
    expect(steps()).toEqual([['pause with others'], []]);
  });

  it.each(['the key of its peer', 'the API'])(
    'by %s holds for the call that it is joined with',
    async (who) => {
      const [a = '', b = ''] = await recorded(2);
      calls.park(a, { slot: '7', timeoutMs: 60_000, atEnd: 'end' });
      await calls.retrieve(a, b);
      if (who === 'the API') calls.record(b, 'pause');
      else media.legs[1]?.recording?.paused(true);
      await settled();
      expect(steps()[0]).toEqual(['pause with others']);
      calls.record(b, 'resume');
      await settled();
      expect(steps()[0]).toEqual(['resume with others']);
    },
  );

  it('by a call that is not recorded itself holds for the one that is', async () => {
    const [a = ''] = await recorded(1);
    order = null;
    await answered();
    const b = calls.underWay().oldest[1]?.id ?? '';
    expect(() => calls.record(b, 'pause')).toThrow('not being recorded');
    await enter(a);
    await enter(b);
    calls.record(b, 'pause');
    await settled();
    expect(steps()[0]).toEqual(['pause with others']);
  });
});

describe('a call that is not recorded', () => {
  it('stays so when its organization begins to record', async () => {
    order = null;
    await answered();
    order = Promise.resolve(recordingOrder('recording-1'));
    expect(() => calls.record('id-1', 'pause')).toThrow('not being recorded');
    expect(notes()).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it('has no recording to pause', async () => {
    order = null;
    await answered();
    expect(media.last.recording).toBeNull();
    expect(() => calls.record('id-1', 'pause')).toThrow('not being recorded');
    expect(() => calls.record('unknown', 'pause')).toThrow('not live');
  });

  it('is one of a test run', async () => {
    await answered({ ...plan, testRunId: 'run-1' });
    expect(asked).toEqual([]);
    expect(media.last.recording).toBeNull();
  });
});
