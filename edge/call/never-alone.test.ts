/**
 * Orders in any sequence, in the midst of others: no call is ever left alone in silence, and none ends because of one that
 * it was never joined with.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { blind, FakeRefer, refusal, settle, TransferBench } from '../../test/kit/edge/transfer.ts';
import type { FakeMediaLeg } from '../../test/kit/fakes/fake-media.ts';
import { LegsApart } from './refused.ts';

const targets = ['+14155550199', 'park:1', 'park:2', 'conference:a', 'conference:b;agent=stay'];

const orders = fc.oneof(
  fc.record({
    what: fc.constantFrom(
      'hold',
      'resume',
      'give back',
      'peer leaves',
      'BYE',
      'agent leaves',
      'stop',
      'remove',
    ),
    call: fc.nat(5),
  }),
  fc.record({
    what: fc.constant('park'),
    call: fc.nat(5),
    slot: fc.constantFrom('1', '2'),
    atEnd: fc.constantFrom('agent', 'end'),
  }),
  fc.record({ what: fc.constant('retrieve'), call: fc.nat(5), by: fc.nat(5) }),
  fc.record({ what: fc.constant('join'), call: fc.nat(5), by: fc.nat(5) }),
  fc.record({ what: fc.constant('transfer'), call: fc.nat(5), target: fc.constantFrom(...targets) }),
  fc.record({
    what: fc.constantFrom(
      'new call',
      'target answers',
      'target refuses',
      'time',
      'bridges fail',
      'apart',
      'settle',
    ),
  }),
);
type Order = typeof orders extends fc.Arbitrary<infer T> ? T : never;

class Walk {
  readonly bench = new TransferBench({}, 12);
  #isApart = false;

  constructor() {
    const { shard } = this.bench.shard;
    const bridge = shard.bridge.bind(shard);
    // A shard answers in a later turn.
    shard.bridge = async (...legs) => {
      await settle();
      if (this.#isApart) throw new LegsApart();
      return bridge(...legs);
    };
  }

  /** The id of the n-th live call. */
  #id(n: number): string {
    const { oldest } = this.bench.calls.underWay();
    return oldest[n % Math.max(1, oldest.length)]?.id ?? 'none';
  }

  async #carryOut(order: Order): Promise<void> {
    const { bench } = this;
    const { calls, dialer } = bench;
    const id = 'call' in order ? this.#id(order.call) : '';
    switch (order.what) {
      case 'hold':
      case 'resume':
        return calls.hold(id, order.what);
      case 'give back':
        return calls.retrieve(id, null);
      case 'peer leaves':
        return calls.find(id)?.end({ code: 'caller_hangup', detail: null });
      case 'BYE':
        // Not one in a dialog that is over, or that there is not yet.
        if (calls.find(id)?.up) await calls.find(id)?.dialog.events().bye();
        return;
      case 'agent leaves':
        return calls.find(id)?.agent.present
          ? calls.find(id)?.end({ code: 'agent_hangup', detail: null })
          : undefined;
      case 'stop':
        return calls.stop(id);
      case 'remove':
        return calls.conferences.control(id, 'remove');
      case 'park':
        if ('slot' in order) calls.park(id, { slot: order.slot, timeoutMs: 60_000, atEnd: order.atEnd });
        return;
      case 'retrieve':
        return 'by' in order ? calls.retrieve(id, this.#id(order.by)) : undefined;
      case 'join': {
        const leg = calls.find('by' in order ? this.#id(order.by) : '')?.dialog.leg;
        if (leg) calls.find(id)?.dialog.events().referred(new FakeRefer(undefined, 'own'), leg);
        return;
      }
      case 'transfer':
        return 'target' in order ? calls.transfer(id, blind(order.target)) : undefined;
      case 'new call':
        if (calls.size < 4) await bench.callUp();
        return;
      case 'target answers':
        if (dialer.legs.length > 0) await bench.targetAnswers();
        return;
      case 'target refuses':
        if (dialer.legs.length > 0) dialer.last.peer.refused(refusal(486, 'Busy Here'));
        return;
      case 'time':
        return void bench.clock.advance(30_000);
      case 'bridges fail':
        bench.media.refuseBridge = !bench.media.refuseBridge;
        return;
      case 'apart':
        this.#isApart = !this.#isApart;
        return;
      default:
        await this.check();
    }
  }

  /** Whoever ordered it gets the error; orders go on before the answer. */
  async order(order: Order): Promise<void> {
    const done = this.#carryOut(order).catch((error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'CommandRefused') throw error;
    });
    if (order.what === 'retrieve' || order.what === 'transfer') void done;
    else await done;
  }

  async check(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await settle();
    for (const { id } of this.bench.calls.underWay().oldest) {
      const call = this.bench.calls.find(id);
      const leg = this.bench.media.legs.findLast(
        ({ options, closed }) => options.callId === id && closed === 0,
      );
      if (call?.up && leg && !call.transfers.leaving)
        expect(this.#company(leg), `company of ${id}`).not.toBe('nobody');
    }
    for (const body of this.bench.reports) {
      if (body.type !== 'call' || body.call.termination !== 'bridge_ended') continue;
      const { id, parent_id = null, transferred_to = null } = body.call;
      const wasJoined = this.bench.reports.some(
        (one) =>
          one.type === 'transcript' &&
          one.call_id === id &&
          one.entries.some(({ text }) => text.startsWith('Joined with call')),
      );
      expect(parent_id !== null || transferred_to !== null || wasJoined, `${id} was joined`).toBe(true);
    }
  }

  /** Whom the peer of a leg hears. */
  #company(leg: FakeMediaLeg): string {
    const { bridges, rooms } = this.bench.media;
    if (leg.endpoint && !leg.endpoint.silent) return 'an agent, music or a tone';
    if (rooms.some((legs) => legs.has(leg))) return 'a conference';
    for (const { legs, closed } of bridges) {
      if (!legs.includes(leg)) continue;
      const other = legs.find((one) => one !== leg);
      if (closed === 0) return 'another call';
      if (this.bench.media.legs.some((one) => one === other && one.holding && one.closed === 0))
        return 'one on hold';
    }
    return 'nobody';
  }

  async end(): Promise<void> {
    await this.check();
    this.bench.calls.endAll({ code: 'api_stop', detail: null });
    await settle();
    this.bench.expectNothingLeft();
  }
}

it.each([
  ['with their agents', 0],
  ['two of which are bridged', 2],
])(
  'among calls %s, no order leaves one alone in silence, or ends one that was never joined',
  async (_how, bridged) => {
    await fc.assert(
      fc.asyncProperty(fc.array(orders, { minLength: 10, maxLength: 60 }), async (story) => {
        const walk = new Walk();
        for (let i = 0; i < 3; i++) {
          const { agent } = await walk.bench.callUp();
          if (i >= bridged) continue;
          await walk.bench.transfer(agent, blind());
          await walk.bench.targetAnswers();
          await settle();
        }
        for (const order of story) await walk.order(order);
        await walk.end();
      }),
      { numRuns: 150 },
    );
  },
);
