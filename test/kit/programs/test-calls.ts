/** Orders test calls through the API, to trunks that the test plays. */
import type { Static } from 'typebox';
import { TestCallStarted, TestCallView } from '#shared/api/trunk-checks.ts';
import type { TestKeyPair } from '../fakes/certificates.ts';
import type { SrtpPeer } from '../fakes/srtp-peer.ts';
import { eventually } from './eventually.ts';
import type { TestSystem } from './harness.ts';
import { TestTrunk, type TrunkCall } from './trunk.ts';
import { attachTrunk, startTrunkSystem, trunkPair } from './trunk-system.ts';

/** The number that is called. */
export const testCallTarget = '+14155550190';

export type TestCall = Static<typeof TestCallView>['data'];

export class TestCalls {
  readonly system: TestSystem;
  readonly pair: TestKeyPair;
  #numbers = 0;

  private constructor(system: TestSystem, pair: TestKeyPair) {
    this.system = system;
    this.pair = pair;
  }

  /** Starts the programs. */
  static async open(): Promise<TestCalls> {
    const system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600' });
    return new TestCalls(system, await trunkPair(system));
  }

  close(): Promise<unknown> {
    return this.system.stop();
  }

  nextNumber(): string {
    return `+1415555${String(2000 + this.#numbers++)}`;
  }

  async start(number: string, order: Record<string, unknown> = {}): Promise<string> {
    const body = { phone_number: number, to: testCallTarget, max_seconds: 5, ...order };
    const { data } = await this.system.api.read(TestCallStarted, 'POST', '/v1/sip/test-call', body);
    return data.call_id;
  }

  async state(id: string): Promise<TestCall> {
    const path = `/v1/sip/test-call/status?call_id=${id}`;
    return (await this.system.api.read(TestCallView, 'GET', path)).data;
  }

  ended(id: string): Promise<TestCall> {
    return eventually(`the end of test call ${id}`, async () => {
      const now = await this.state(id);
      return now.result === 'pending' ? null : now;
    });
  }

  /** A trunk with its own number. */
  async withTrunk(
    run: (trunk: TestTrunk, number: string) => Promise<void>,
    certificate: TestKeyPair = this.pair,
  ): Promise<void> {
    const trunk = await TestTrunk.listen(certificate);
    try {
      const number = this.nextNumber();
      await attachTrunk(this.system, number, trunk.port);
      await run(trunk, number);
    } finally {
      await trunk.close();
    }
  }
}

export const events = ({ timeline }: TestCall) => timeline.map(({ event }) => event);
export const lastDetail = ({ timeline }: TestCall) => timeline.at(-1)?.detail;

/** Answers a call with the SDP of `media`. */
export async function pickUp(call: TrunkCall, media: SrtpPeer, sdp = media.sdp()): Promise<void> {
  media.connect(call.invite.body);
  call.answer('200 OK', sdp);
  await call.expect('ACK');
}
