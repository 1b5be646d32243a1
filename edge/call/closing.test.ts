/** The order in which a call closes, as documented at the top of call.ts and in docs/internals/closing.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blind, settle, TransferBench } from '../../test/kit/edge/transfer.ts';
import type { FakeMediaLeg } from '../../test/kit/fakes/fake-media.ts';

type Step = 'set-up' | 'timers' | 'transfer' | 'supervisors' | 'agent' | 'closed record' | 'media' | 'sent';

/** The steps on the line of a text that begins with `set-up`. */
function documented(file: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  const line = /set-up ─> .*/.exec(text)?.[0] ?? '';
  return line.split(' ─> ').map((step) => (step === 'BYE, CANCEL or rejection' ? 'sent' : step));
}

const order = documented('call.ts');

/** Notes what one call closes, and when. */
class Witness {
  readonly steps: Step[] = [];
  readonly #bench: TransferBench;

  constructor(bench: TransferBench, callId: string) {
    this.#bench = bench;
    const { supervisions } = bench.calls;
    const callEnded = supervisions.callEnded.bind(supervisions);
    supervisions.callEnded = (call) => {
      if (call.id === callId) this.note('supervisors');
      callEnded(call);
    };
    bench.onReport = (body) => {
      if (body.type === 'call' && body.call.id === callId && body.call.ended_at !== null)
        this.note('closed record');
      if (body.type === 'transcript' && body.entries[0]?.text.startsWith('The transfer to'))
        this.note('transfer');
    };
  }

  /** The timers are canceled silently: they come before the first step that finds none. */
  note(step: Step): void {
    if (this.#bench.clock.pending === 0 && !this.steps.includes('timers')) this.steps.push('timers');
    this.steps.push(step);
  }

  agent(): void {
    const { last } = this.#bench.agents;
    const close = last.close.bind(last);
    last.close = (reason) => {
      this.note('agent');
      close(reason);
    };
  }

  media(leg: FakeMediaLeg): void {
    const close = leg.close.bind(leg);
    leg.close = () => {
      this.note('media');
      close();
    };
  }
}

/** What the call's parts are when it ends. */
interface Situation {
  readonly seen: Witness;
  readonly bench: TransferBench;
  readonly callId: string;
  readonly hangUpByPeer: () => void;
}

async function inboundUp(): Promise<Situation> {
  const bench = new TransferBench();
  const seen = new Witness(bench, 'id-1');
  const { peer, media } = await bench.callUp();
  seen.agent();
  seen.media(media);
  peer.beforeSend = () => seen.note('sent');
  return { seen, bench, callId: 'id-1', hangUpByPeer: () => peer.peer.bye() };
}

async function inTransfer(): Promise<Situation> {
  const situation = await inboundUp();
  await situation.bench.transfer(situation.bench.agents.last, blind());
  return situation;
}

async function preparing(): Promise<Situation> {
  const bench = new TransferBench();
  const seen = new Witness(bench, 'id-1');
  bench.agents.ready = false;
  const { peer } = bench.offered();
  await settle();
  seen.agent();
  seen.media(bench.media.last);
  peer.beforeSend = () => seen.note('sent');
  return { seen, bench, callId: 'id-1', hangUpByPeer: () => peer.peer.canceled() };
}

async function dialling(): Promise<Situation> {
  const bench = new TransferBench();
  const seen = new Witness(bench, 'placed');
  bench.agents.ready = false;
  bench.place();
  await settle();
  seen.agent();
  seen.media(bench.media.last);
  const hunt = bench.routes.last;
  const ended = hunt.ended.bind(hunt);
  hunt.ended = (outcome) => {
    seen.note('set-up');
    return ended(outcome);
  };
  const leg = bench.dialer.last;
  leg.beforeSend = () => seen.note('sent');
  return { seen, bench, callId: 'placed', hangUpByPeer: () => leg.peer.bye() };
}

async function outboundUp(): Promise<Situation> {
  const bench = new TransferBench();
  const seen = new Witness(bench, 'placed');
  const { peer, media } = await bench.placedUp();
  seen.agent();
  seen.media(media);
  peer.beforeSend = () => seen.note('sent');
  return { seen, bench, callId: 'placed', hangUpByPeer: () => peer.peer.bye() };
}

const byAgent = ({ bench }: Situation) => bench.agents.last.host.hangup('all said');
const byApi = ({ bench, callId }: Situation) => bench.calls.stop(callId);
const byPeer = ({ hangUpByPeer }: Situation) => hangUpByPeer();
const byEngine = ({ bench }: Situation) => bench.calls.endAll({ code: 'engine_lost', detail: null });
const byDrain = ({ bench }: Situation) => bench.calls.endRemaining('The edge was stopped.');
const bySilence = ({ bench }: Situation) => {
  for (const leg of bench.media.legs) leg.silentMs = 60_000;
  bench.clock.advance(60_000);
};
const byDuration = ({ bench }: Situation) => {
  for (const leg of bench.media.legs) leg.silentForMs = () => 0;
  bench.clock.advance(30 * 60_000);
};

describe('the order of closing', () => {
  it('is the same in call.ts and in docs/internals/closing.md', () => {
    expect(order).toHaveLength(8);
    expect(documented('../../docs/internals/closing.md')).toEqual(order);
  });

  it.each<[string, typeof inboundUp, (situation: Situation) => void, Step[]]>([
    ['an inbound call that its agent ends', inboundUp, byAgent, ['set-up', 'transfer']],
    ['an inbound call that the API ends', inboundUp, byApi, ['set-up', 'transfer']],
    ['an inbound call that its peer ends', inboundUp, byPeer, ['set-up', 'transfer', 'sent']],
    ['an inbound call whose engine is lost', inboundUp, byEngine, ['set-up', 'transfer', 'sent']],
    ['an inbound call after the drain', inboundUp, byDrain, ['set-up', 'transfer']],
    ['an inbound call with a silent peer', inboundUp, bySilence, ['set-up', 'transfer']],
    ['an inbound call at its maximum duration', inboundUp, byDuration, ['set-up', 'transfer']],
    ['a call in a transfer that the API ends', inTransfer, byApi, ['set-up']],
    ['a call in a transfer that its peer ends', inTransfer, byPeer, ['set-up', 'sent']],
    ['an unanswered call that the API ends', preparing, byApi, ['set-up', 'transfer']],
    ['an unanswered call that the caller cancels', preparing, byPeer, ['set-up', 'transfer', 'sent']],
    ['an outbound call that the API ends before the answer', dialling, byApi, ['transfer']],
    ['an outbound call that the drain ends before the answer', dialling, byDrain, ['transfer']],
    ['an outbound call that its agent ends', outboundUp, byAgent, ['set-up', 'transfer']],
    ['an outbound call that its peer ends', outboundUp, byPeer, ['set-up', 'transfer', 'sent']],
  ])('holds for %s', async (_name, begin, end, without) => {
    const situation = await begin();
    end(situation);
    expect(situation.seen.steps).toEqual(order.filter((step) => !without.some((absent) => absent === step)));
    situation.bench.expectNothingLeft();
  });

  it('sends the BYE although every step before it fails', async () => {
    const bench = new TransferBench();
    const { peer, agent, media } = await bench.callUp();
    const fail = (): never => {
      throw new Error('out of order');
    };
    agent.close = fail;
    media.close = fail;
    bench.onReport = fail;
    bench.calls.stop('id-1');
    expect(peer.sent.at(-1)).toBe('BYE (The call was stopped through the API.)');
    expect(bench.calls.size).toBe(0);
    expect(bench.clock.pending).toBe(0);
  });

  it('keeps the first reason when both sides hang up at once', async () => {
    const bench = new TransferBench();
    const { peer, agent } = await bench.callUp();
    peer.beforeSend = () => peer.peer.bye();
    agent.host.hangup('all said');
    expect(bench.record('id-1')).toMatchObject({ termination: 'agent_hangup' });
    bench.expectNothingLeft();
  });
});
