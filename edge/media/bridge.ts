/**
 * Joins two legs.
 *
 *     relayed:     peer ==> path of one ==> path of other ==> peer        inside the worker, both ways
 *     transcoded:  peer ==> path of one -> decode -> crossing -> encode -> path of other ==> peer
 *
 * A re-INVITE on either leg may move its path, hold it, or change its codec: the bridge then rearranges the
 * legs, and changes its mode if necessary (bridge-plan.ts).
 *
 * Each relay has its own SSRC towards the peer, separate from that of the audio sent by this process: sequence
 * numbers, timestamps and the SRTP rollover counter belong to an SSRC (RFC 3550 section 5.1, RFC 3711 section
 * 3.2.3), and two sources cannot share them. When the bridge ends, the old SSRC continues from its last sequence
 * number, with its time advanced and a marker. So a peer sees one new SSRC per relay; libre, used by baresip,
 * accepts eight in one SRTP session. The stream from a peer stays in the worker throughout, and with it the
 * rollover counter.
 */

import type { BridgeOptions, MediaBridge } from '../call/ports/media.ts';
import { CallRefused } from '../call/refused.ts';
import { type BridgePlan, planBridge } from './bridge-plan.ts';
import { crossing, crossingRate } from './crossing.ts';
import type { Leg } from './leg.ts';
import type { LegBridge } from './leg-bridge.ts';
import type { MediaLog } from './log.ts';
import type { Relay } from './relay.ts';
import type { NegotiatedAudio } from './sdp/session.ts';
import type { SrtpPath } from './srtp-path.ts';

/** One direction inside the worker. */
interface Way {
  readonly relay: Relay;
  readonly from: SrtpPath;
  /** The stream of `from`: the relay ends with it. */
  readonly stream: string | null;
  readonly to: SrtpPath;
}

export class Bridge implements MediaBridge, LegBridge<Leg> {
  readonly #legs: readonly [Leg, Leg];
  readonly #options: BridgeOptions;
  readonly #log: MediaLog;
  /** What each leg's peer sends, in the order of the legs. */
  readonly #ways: [Way | null, Way | null] = [null, null];
  #plan: BridgePlan | null = null;
  #crossedAt: number | null = null;
  #following: Promise<void> | null = null;
  #again = false;
  #opened = false;
  #closed = false;
  #refusal: CallRefused | null = null;

  private constructor(legs: readonly [Leg, Leg], options: BridgeOptions, log: MediaLog) {
    this.#legs = legs;
    this.#options = options;
    this.#log = log;
  }

  /**
   * Joins two legs.
   * @throws CallRefused 488 when they have no codec in common and may not be transcoded, or have no media yet
   * @throws Error when one of them is closed or already in a bridge
   */
  static async open(one: Leg, other: Leg, options: BridgeOptions, log: MediaLog): Promise<Bridge> {
    const bridge = new Bridge([one, other], options, log);
    one.enter(bridge);
    try {
      other.enter(bridge);
      if (one.session) bridge.permit(one, one.session);
    } catch (error) {
      one.leave();
      if (other.bridge === bridge) other.leave();
      throw error;
    }
    await bridge.follow();
    if (bridge.#refusal) throw bridge.#refusal;
    if (bridge.#closed) throw new Error('a leg ended while it was bridged');
    bridge.#opened = true;
    return bridge;
  }

  get mode(): 'relayed' | 'transcoded' {
    return this.#plan?.mode === 'transcoded' ? 'transcoded' : 'relayed';
  }

  permit(leg: Leg, session: NegotiatedAudio): void {
    const [one, other] = this.#legs;
    const opposite = (leg === one ? other : one).session;
    const plan = opposite && this.#planFor(session, opposite);
    if (plan?.mode === 'refused') throw new CallRefused(488, plan.because, plan.because);
  }

  follow(): Promise<void> {
    this.#again = true;
    this.#following ??= this.#run().finally(() => {
      this.#following = null;
    });
    return this.#following;
  }

  async look(leg: Leg): Promise<void> {
    const index = leg === this.#legs[0] ? 0 : 1;
    const way = this.#ways[index];
    if (!way || way.relay.closed) return;
    const look = await way.relay.look().catch((error: unknown) => {
      if (way.relay.closed) return null;
      throw error;
    });
    if (!look) return;
    this.#legs[index].quality.relayedFrom(look);
    this.#legs[1 - index]?.quality.relayedTo(look);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#endWay(0);
    this.#endWay(1);
    for (const leg of this.#legs) leg.leave();
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false;
      try {
        await this.#arrange();
      } catch (error) {
        // A path was closed meanwhile: the closing side requests another arrangement, or ends the bridge.
        if (!this.#again && !this.#closed) this.#fail(error);
      }
    }
  }

  async #arrange(): Promise<void> {
    const [one, other] = this.#legs;
    if (!one.session || !other.session) return;
    const plan = this.#planFor(one.session, other.session);
    this.#logPlan(plan);
    this.#plan = plan;
    if (plan.mode === 'refused') throw new CallRefused(488, plan.because, plan.because);
    if (plan.mode === 'transcoded') return this.#cross(one, other);
    this.#crossedAt = null;
    one.standAside();
    other.standAside();
    await Promise.all([this.#relay(0), this.#relay(1)]);
  }

  #planFor(one: NegotiatedAudio, other: NegotiatedAudio): BridgePlan {
    const oneWorker = this.#legs[0].worker === this.#legs[1].worker;
    const recorded = this.#legs.some((leg) => leg.recorded);
    const supervised = this.#legs.some((leg) => leg.tapped);
    return planBridge(one, other, { oneWorker, transcode: this.#options.transcode, recorded, supervised });
  }

  async #cross(one: Leg, other: Leg): Promise<void> {
    this.#endWay(0);
    this.#endWay(1);
    const codecs = [one.codec ?? 'PCMU', other.codec ?? 'PCMU'] as const;
    const rate = crossingRate(...codecs);
    if (this.#crossedAt === rate) return;
    this.#crossedAt = rate;
    const [ofOne, ofOther] = crossing(rate, {
      ofOne: ({ digit }) => this.#press(other, digit),
      ofOther: ({ digit }) => this.#press(one, digit),
    });
    await Promise.all([one.cross(ofOne), other.cross(ofOther)]);
  }

  /** Makes the worker relay what the peer of leg `index` sends, unless it already does. */
  async #relay(index: 0 | 1): Promise<void> {
    const from = this.#legs[index].path;
    const receiver = this.#legs[index === 0 ? 1 : 0];
    const to = receiver.path;
    if (!from || !to) return;
    const paused = !receiver.sending;
    const way = this.#ways[index];
    if (way && way.stream === from.stream && way.to === to) return way.relay.pause(paused);
    // A path that its leg has left is received a while longer, and its relay ends with it.
    if (way && way.from !== from && way.to === to) await this.look(this.#legs[index]);
    else this.#endWay(index);
    const { stream } = from;
    const relay = await to.relayFrom(from, paused);
    if (this.#closed) {
      void relay.close();
      return;
    }
    this.#ways[index] = { relay, from, stream, to };
    await this.look(this.#legs[index]);
  }

  /** Ends a relay; its remaining counts arrive later. */
  #endWay(index: 0 | 1): void {
    const way = this.#ways[index];
    this.#ways[index] = null;
    if (!way) return;
    const [from, to] = [this.#legs[index].quality, this.#legs[index === 0 ? 1 : 0].quality];
    void way.relay.close().then((look) => {
      if (!look) return;
      from.relayedFrom(look);
      to.relayedTo(look);
    });
  }

  #press(leg: Leg, digit: string): void {
    if (!leg.session?.dtmf) {
      const fields = { call_id: leg.callId, digit };
      this.#log.info(fields, 'a key press was not passed across the bridge: the leg has no telephone-event');
      return;
    }
    leg.sendDtmf(digit).catch((error: unknown) => {
      this.#log.warn(
        { call_id: leg.callId, error: String(error) },
        'a key press was not passed across the bridge',
      );
    });
  }

  #logPlan(plan: BridgePlan): void {
    const before = this.#plan;
    if (before && JSON.stringify(before) === JSON.stringify(plan)) return;
    const calls = { call_id: this.#legs[0].callId, other_call_id: this.#legs[1].callId };
    if (plan.mode === 'relayed') {
      if (plan.lost) this.#log.warn({ ...calls, reason: plan.lost }, 'key presses do not cross the bridge');
    } else if (plan.mode === 'transcoded') {
      this.#log.info({ ...calls, reason: plan.because }, 'the audio of a bridge passes through this process');
    }
  }

  #fail(error: unknown): void {
    const refusal =
      error instanceof CallRefused
        ? error
        : new CallRefused(500, `the legs cannot be bridged: ${String(error)}`);
    this.#refusal = refusal;
    this.#log.warn({ call_id: this.#legs[0].callId, error: refusal.message }, 'a bridge broke');
    this.close();
    if (this.#opened) this.#options.failed?.(refusal);
  }
}
