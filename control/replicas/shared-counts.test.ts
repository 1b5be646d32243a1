/** What several replicas let through together, whatever the order and the delay of what they tell each other. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import '../../test/kit/property-seed.ts';
import { RateLimiter } from '../http/rate-limit.ts';
import { WrongKeys } from '../http/wrong-keys.ts';
import { type Hearing, SharedCounts } from './shared-counts.ts';
import { SharedPlaces } from './shared-places.ts';

/** One order of messages for all; each replica hears them when the test says so. */
class Order {
  readonly #messages: { topic: string; body: string; sender: string; recipient: string | undefined }[] = [];
  readonly #members: Member[] = [];

  get members(): readonly Member[] {
    return this.#members;
  }

  join(id: string): Member {
    const member = new Member(this, id, this.#messages.length);
    for (const other of this.#members) {
      other.meet(id);
      member.meet(other.id);
    }
    this.#members.push(member);
    return member;
  }

  kill(member: Member): void {
    this.#members.splice(this.#members.indexOf(member), 1);
    member.isDead = true;
    for (const other of this.#members) other.lose(member.id);
  }

  /** @returns its place, from 1 */
  add(topic: string, body: unknown, sender: string, recipient: string | undefined): number {
    return this.#messages.push({ topic, body: JSON.stringify(body), sender, recipient });
  }

  at(place: number) {
    return this.#messages[place];
  }

  /** Delivers everything, and what follows from it. */
  async settle(clock: FakeClock): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      await new Promise(setImmediate);
      clock.advance(300);
      const heard = this.#members.map((member) => member.hear(Number.POSITIVE_INFINITY));
      quiet = heard.some((count) => count > 0) ? 0 : quiet + 1;
    }
  }
}

class Member implements Hearing {
  readonly id: string;
  readonly peers = new Set<string>();
  isDead = false;
  readonly #order: Order;
  readonly #receivers = new Map<string, (body: string, sender: string) => void>();
  readonly #arrivals: ((replica: string) => void)[] = [];
  readonly #ends: ((replica: string) => void)[] = [];
  readonly #gaps: ((sender: string | null) => void)[] = [];
  readonly #waiting = new Map<number, (heard: boolean) => void>();
  #place: number;

  constructor(order: Order, id: string, place: number) {
    this.#order = order;
    this.id = id;
    this.#place = place;
  }

  topic<Body>(name: string) {
    return {
      send: (body: Body, recipient?: string) =>
        new Promise<boolean>((resolve) => {
          if (!this.isDead) this.#waiting.set(this.#order.add(name, body, this.id, recipient), resolve);
        }),
      on: (receive: (body: Body, sender: string) => void) =>
        void this.#receivers.set(name, (body, sender) => receive(JSON.parse(body), sender)),
    };
  }

  onArrival(act: (replica: string) => void): void {
    this.#arrivals.push(act);
    for (const peer of this.peers) act(peer);
  }

  onLeft(act: (replica: string) => void): void {
    this.#ends.push(act);
  }

  onGap(act: (sender: string | null) => void): void {
    this.#gaps.push(act);
  }

  meet(replica: string): void {
    this.peers.add(replica);
    for (const act of this.#arrivals) act(replica);
  }

  lose(replica: string): void {
    this.peers.delete(replica);
    for (const act of this.#ends) act(replica);
  }

  /** Its connection broke: what it has not heard is lost to it. */
  miss(): void {
    while (this.#order.at(this.#place)) this.#place++;
    for (const end of this.#waiting.values()) end(false);
    this.#waiting.clear();
    for (const act of this.#gaps) act(null);
  }

  /** Hears up to so many messages. @returns how many there were */
  hear(most: number): number {
    let heard = 0;
    for (let message = this.#order.at(this.#place); message && heard < most; heard++) {
      this.#place++;
      const { body, recipient, sender, topic } = message;
      if (sender === this.id) {
        this.#waiting.get(this.#place)?.(true);
        this.#waiting.delete(this.#place);
      } else if (recipient === undefined || recipient === this.id) {
        this.#receivers.get(topic)?.(body, sender);
      }
      message = this.#order.at(this.#place);
    }
    return heard;
  }
}

interface Step {
  readonly who: number;
  readonly what: 'take' | 'hear' | 'wait';
  readonly count: number;
}

const stepsOf = (replicas: number) =>
  fc.array(
    fc.record<Step>({
      who: fc.nat(replicas - 1),
      what: fc.constantFrom('take', 'take', 'hear', 'wait'),
      count: fc.integer({ min: 1, max: 30 }),
    }),
    { minLength: 50, maxLength: 200 },
  );

const allowanceOf = (limit: number, replicas: number) => Math.max(1, Math.floor((limit * 0.05) / replicas));

/** What a counter of one replica answers to one attempt: whether it was let through. */
type Attempt = () => Promise<boolean>;

/** @returns how much all let through */
async function letThrough(
  replicas: number,
  steps: readonly Step[],
  make: (counts: SharedCounts, clock: FakeClock) => Attempt,
): Promise<number> {
  const order = new Order();
  const clock = new FakeClock();
  const attempts: Attempt[] = [];
  for (let index = 0; index < replicas; index++)
    attempts.push(make(new SharedCounts(order.join(String(index)), clock), clock));
  let through = 0;
  for (const { count, what, who } of steps) {
    if (what === 'hear') order.members[who]?.hear(count);
    else if (what === 'wait') clock.advance(count);
    else
      for (let attempt = 0; attempt < count; attempt++)
        void attempts[who]?.().then((isThrough) => {
          if (isThrough) through++;
        });
    await new Promise(setImmediate);
  }
  await order.settle(clock);
  return through;
}

const rateOf = (limit: number) => (counts: SharedCounts, clock: FakeClock) => {
  const limiter = new RateLimiter(clock, counts.as('rate'));
  return async () => !(await limiter.take('k', [{ scope: 's', limit, windowSeconds: 3_600 }])).refused;
};

describe('replicas that count together', () => {
  const replicas = fc.integer({ min: 2, max: 4 });
  const limits = fc.constantFrom(1, 5, 60, 400);

  it('let through less than the limit and their allowances', async () => {
    const cases = fc
      .tuple(replicas, limits)
      .chain(([count, limit]) => fc.tuple(fc.constant(count), fc.constant(limit), stepsOf(count)));
    await fc.assert(
      fc.asyncProperty(cases, async ([count, limit, steps]) => {
        const through = await letThrough(count, steps, rateOf(limit));
        expect(through).toBeLessThan(limit + count * allowanceOf(limit, count));
      }),
      { numRuns: 60 },
    );
  });

  it('count wrong keys of one network together', async () => {
    const cases = replicas.chain((count) => fc.tuple(fc.constant(count), stepsOf(count)));
    let guesses = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ([count, steps]) => {
        const through = await letThrough(count, steps, (counts) => {
          // Without refill.
          const keys = new WrongKeys(new FakeClock(), counts.as('keys'));
          return async () => (await keys.refusal('192.0.2.1', `tk_${guesses++}`)).code === 'AUTH_FAILURE';
        });
        expect(through).toBeLessThan(30 + count * allowanceOf(30, count));
      }),
      { numRuns: 40 },
    );
  });

  it('have no more places taken at a time than the limit and their allowances', async () => {
    const cases = fc
      .tuple(replicas, limits)
      .chain(([count, limit]) => fc.tuple(fc.constant(count), fc.constant(limit), stepsOf(count)));
    await fc.assert(
      fc.asyncProperty(cases, async ([count, limit, steps]) => {
        let taken = 0;
        let most = 0;
        await letThrough(count, steps, (counts) => {
          const places = new SharedPlaces(counts.as('places'));
          const leaves: (() => void)[] = [];
          let attempts = 0;
          return async () => {
            if (++attempts % 3 === 0 && leaves.length > 0) {
              taken--;
              leaves.pop()?.();
              return false;
            }
            const leave = await places.enter('k', limit);
            if (!leave) return false;
            leaves.push(leave);
            most = Math.max(most, ++taken);
            return true;
          };
        });
        expect(most).toBeLessThan(limit + count * allowanceOf(limit, count));
      }),
      { numRuns: 60 },
    );
  });
});

describe('a limit that replicas share', () => {
  const perHour = { scope: 's', limit: 40, windowSeconds: 3_600 };
  function cluster(size: number) {
    const order = new Order();
    const clock = new FakeClock();
    const join = (id: string) => {
      const member = order.join(id);
      const counts = new SharedCounts(member, clock);
      return {
        member,
        limiter: new RateLimiter(clock, counts.as('rate')),
        places: new SharedPlaces(counts.as('places')),
      };
    };
    const all = Array.from({ length: size }, (_, index) => join(String(index)));
    const take = async (at: { limiter: RateLimiter }, times: number) => {
      const taken = Promise.all(Array.from({ length: times }, () => at.limiter.take('k', [perHour])));
      await order.settle(clock);
      return (await taken).filter(({ refused }) => !refused).length;
    };
    const [first, second = first] = all;
    if (!first || !second) throw new Error('a cluster has a replica');
    return { order, clock, join, first, second, take };
  }

  it('is there whole for a customer that uses one of them', async () => {
    const { first, second, take } = cluster(3);
    expect(await take(first, 60)).toBe(40);
    expect(await take(second, 5)).toBe(0);
  });

  it('counts what a dead one has let through, and frees the places that it had', async () => {
    const { first, second, order, clock, take } = cluster(2);
    await take(first, 40);
    const places = Promise.all([first.places.enter('k', 2), first.places.enter('k', 2)]);
    await order.settle(clock);
    expect(await places).toHaveLength(2);
    expect(await second.places.enter('k', 2)).toBeNull();
    order.kill(first.member);
    expect(await second.places.enter('k', 2)).not.toBeNull();
    expect(await take(second, 5)).toBe(0);
  });

  it('is known to one that starts later, and to one whose connection broke', async () => {
    const { first, second, order, clock, join, take } = cluster(2);
    expect(await take(first, 15)).toBe(15);
    const third = join('third');
    await order.settle(clock);
    const taken = first.limiter.take('k', [perHour]);
    // The second one misses what the first has sent.
    await new Promise(setImmediate);
    clock.advance(300);
    await new Promise(setImmediate);
    second.member.miss();
    await order.settle(clock);
    await taken;
    expect(
      (await Promise.all([second, third].map(({ limiter }) => limiter.take('k', [perHour])))).map(
        ({ remaining }) => remaining,
      ),
    ).toEqual([23, 23]);
  });

  it('gets back at all of them what did not count', async () => {
    const { first, second, order, clock, take } = cluster(2);
    await take(first, 39);
    const last = await first.limiter.take('k', [perHour]);
    await order.settle(clock);
    expect((await second.limiter.take('k', [perHour])).refused).toBe(true);
    first.limiter.giveBack('k', [perHour], last.moment);
    await order.settle(clock);
    expect(await take(second, 2)).toBe(1);
  });

  it('costs nothing while there is one replica', async () => {
    const { first: only, clock, order } = cluster(1);
    for (let taken = 0; taken < 40; taken++) await only.limiter.take('k', [perHour]);
    (await only.places.enter('k', 2))?.();
    expect([clock.pending, order.at(0)]).toEqual([0, undefined]);
  });
});
