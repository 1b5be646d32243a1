/** Calls whose media is in another thread: its counts come later, and the end of the call waits for them. */
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallRecord, MediaReport, TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { plan, settle } from '../../test/kit/edge/inbound-calls.ts';
import { FakeAgents } from '../../test/kit/fakes/fake-agents.ts';
import { FakeLeg } from '../../test/kit/fakes/fake-leg.ts';
import { FakeMedia, type FakeMediaLeg } from '../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import { Calls } from './calls.ts';
import type { Media, MediaLeg } from './ports/media.ts';

/** Its legs answer questions when the test says so. */
class FarMedia implements Media {
  readonly near = new FakeMedia();
  readonly questions: PromiseWithResolvers<MediaReport | null>[] = [];
  silent: Promise<number> = Promise.resolve(0);

  async createLeg(...options: Parameters<Media['createLeg']>): Promise<MediaLeg> {
    await this.near.createLeg(...options);
    return this.#far(this.near.last);
  }

  bridge(...legs: Parameters<Media['bridge']>): ReturnType<Media['bridge']> {
    return this.near.bridge(...legs);
  }

  openRoom(): ReturnType<Media['openRoom']> {
    return this.near.openRoom();
  }

  supervise(...legs: Parameters<Media['supervise']>): ReturnType<Media['supervise']> {
    return this.near.supervise(...legs);
  }

  #far(leg: FakeMediaLeg): MediaLeg {
    return {
      answer: (offer) => leg.answer(offer),
      offer: (anew) => leg.offer(anew),
      accept: (answer) => leg.accept(answer),
      withdraw: () => leg.withdraw(),
      hold: (on) => leg.hold(on),
      pressed: (key) => leg.pressed(key),
      attach: (endpoint) => leg.attach(endpoint),
      record: (order) => leg.record(order),
      tell: (...words) => leg.tell(...words),
      sendDtmf: (digits) => leg.sendDtmf(digits),
      get codec() {
        return leg.codec;
      },
      keys: 'telephone-event',
      held: false,
      silentForMs: () => this.silent,
      report: () => {
        const question = Promise.withResolvers<MediaReport | null>();
        this.questions.push(question);
        return question.promise;
      },
      close: () => leg.close(),
    };
  }
}

const line: TranscriptEntry = {
  id: 'line-1',
  at: '2030-01-01T00:00:00.000Z',
  user: 'assistant',
  text: 'Goodbye.',
  node_id: null,
  node_name: null,
};

describe('a call whose media is in another thread', () => {
  let clock: FakeClock;
  let media: FarMedia;
  let agents: FakeAgents;
  let reports: ReportBody[];
  let calls: Calls;
  let peer: FakeLeg;

  const records = (): CallRecord[] => reports.flatMap((body) => (body.type === 'call' ? [body.call] : []));
  const closed = () => records().find(({ ended_at }) => ended_at !== null) ?? null;

  beforeEach(async () => {
    clock = new FakeClock();
    media = new FarMedia();
    agents = new FakeAgents();
    reports = [];
    let next = 1;
    calls = new Calls({
      clock,
      media,
      agents,
      log: new QuietLog(),
      newId: () => `id-${next++}`,
      maxCalls: 2,
      settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 60_000 },
      reporter: { report: (body) => void reports.push(body) },
    });
    peer = new FakeLeg();
    calls.admit(peer, plan, []);
    await settle();
    peer.peer.answered();
    peer.peer.acknowledged(null);
    await settle();
  });

  const report = (): MediaReport => media.near.last.report();

  it('is closed with the counts before the peer gets its BYE', async () => {
    calls.stop('id-1');
    expect({ closed: closed(), sent: peer.sent }).toMatchObject({ closed: null, sent: ['200'] });
    media.questions[0]?.resolve(report());
    await settle();
    expect(closed()?.media).toEqual(report());
    expect(peer.sent.at(-1)).toMatch(/^BYE /);
    expect({ live: calls.size, timers: clock.pending, legs: media.near.last.closed }).toEqual({
      live: 0,
      timers: 0,
      legs: 1,
    });
  });

  it('lets the 200 to the BYE of its peer wait for the record', async () => {
    let answered = false;
    const stored = Promise.resolve(peer.peer.bye()).then(() => {
      answered = true;
    });
    await settle();
    expect({ answered, closed: closed() }).toEqual({ answered: false, closed: null });
    media.questions[0]?.resolve(report());
    await stored;
    expect(closed()?.media).toEqual(report());
    expect(calls.size).toBe(0);
  });

  it('is closed without counts when they do not arrive in time', async () => {
    calls.stop('id-1');
    clock.advance(399);
    await settle();
    expect(closed()).toBeNull();
    clock.advance(1);
    await settle();
    expect(closed()).toMatchObject({ media: null, termination: 'api_stop' });
    expect(peer.sent.at(-1)).toMatch(/^BYE /);
    media.questions[0]?.resolve(report());
    await settle();
    expect(records().filter(({ ended_at }) => ended_at !== null)).toHaveLength(1);
  });

  it('is closed once when both sides hang up meanwhile', async () => {
    calls.stop('id-1');
    const stored = peer.peer.bye();
    media.questions[0]?.resolve(report());
    await stored;
    await settle();
    expect(records().filter(({ ended_at }) => ended_at !== null)).toHaveLength(1);
    expect(media.questions).toHaveLength(1);
    expect(calls.size).toBe(0);
  });

  it('keeps what its agent said until its last word has arrived', async () => {
    const { host } = agents.last;
    const words = Promise.withResolvers<void>();
    agents.last.lastWords = () => words.promise;
    calls.stop('id-1');
    host.transcript(line);
    host.hangup('too late');
    words.resolve();
    media.questions[0]?.resolve(report());
    await settle();
    host.transcript({ ...line, id: 'line-2' });
    const lines = reports.flatMap((body) => (body.type === 'transcript' ? body.entries : []));
    expect(lines.map(({ id }) => id)).toEqual(['line-1']);
    expect(closed()?.termination).toBe('api_stop');
  });

  it('goes on while packets of its peer arrive, and ends when none does', async () => {
    clock.advance(60_000);
    await settle();
    expect(calls.size).toBe(1);
    media.silent = Promise.resolve(120_000);
    clock.advance(60_000);
    await settle();
    media.questions[0]?.resolve(null);
    await settle();
    expect(closed()).toMatchObject({ termination: 'media_timeout', media: null });
  });

  it('is not over for a drain before its record is stored', async () => {
    let drained = false;
    const draining = calls.drain(1000).then(() => {
      drained = true;
    });
    clock.advance(1000);
    await settle();
    expect(drained).toBe(false);
    media.questions[0]?.resolve(report());
    await draining;
    expect(closed()?.termination).toBe('edge_restarted');
  });
});
