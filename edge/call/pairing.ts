/**
 * Two calls joined with each other, each with its own record: a parked call and the one that retrieves it. When one
 * ends, the other one ends too.
 *
 *     joining --joined--> joined --part--> parted --rejoin--> rejoining --joined--> joined
 *        |                   |               |                   |
 *        +-------------------+---------------+-------------------+--> over: one of the calls has ended or was parked, or
 *                                                                     they cannot be joined
 *
 * Until they are joined for the first time, neither goes with the other.
 */
import type { LiveCall, LivePairing } from './live-call.ts';
import type { Media, MediaBridge } from './ports/media.ts';
import { CallRefused } from './refused.ts';
import { endOfPaired } from './transfer/outcome.ts';
import type { Parting } from './transfer/target-plan.ts';

export class Pairing implements LivePairing {
  readonly inRoom = false;
  readonly #calls: readonly [LiveCall, LiveCall];
  readonly #media: Media;
  #state: 'joining' | 'joined' | 'parted' | 'rejoining' | 'over' = 'joining';
  #bridge: MediaBridge | null = null;
  /** Calls that are held. */
  #holds = 0;

  constructor(calls: readonly [LiveCall, LiveCall], media: Media) {
    this.#calls = calls;
    this.#media = media;
  }

  readonly parting: Parting = {
    isPossible: () => this.#state === 'joined' || this.#state === 'parted',
    part: () => {
      if (this.#holds++ > 0) return;
      this.#state = 'parted';
      this.#bridge?.close();
      for (const call of this.#calls) call.agent.keepSilent();
    },
    rejoin: () => {
      if (--this.#holds > 0 || this.#state === 'over') return;
      this.#state = 'rejoining';
      void this.join().catch((error: unknown) => this.#fail(error));
    },
  };

  get over(): boolean {
    return this.#state === 'over';
  }

  company(callId: string): readonly LiveCall[] {
    return this.#calls.filter(({ id }) => id !== callId);
  }

  get joining(): boolean {
    return this.#state === 'joining';
  }

  /** Why neither of the calls can be changed now. */
  describe(callId: string): string {
    const other = this.#calls.find(({ id }) => id !== callId)?.id;
    return this.#state === 'joining'
      ? `It is being joined with call ${other}.`
      : `It is joined with call ${other}.`;
  }

  /**
   * @param joined called at once when they are
   * @throws CallRefused, Error when the media of the calls cannot be joined
   */
  async join(joined?: () => void): Promise<void> {
    const [one, other] = this.#calls;
    if (!one.media || !other.media) throw new CallRefused(488, 'A call without media cannot be joined.');
    const bridge = await this.#media.bridge(one.media, other.media, {
      transcode: true,
      failed: (error) => this.#fail(error),
    });
    if (this.#state !== 'joining' && this.#state !== 'rejoining') {
      bridge.close();
      throw new CallRefused(480, 'One of the calls has ended.');
    }
    this.#bridge = bridge;
    this.#state = 'joined';
    one.log.info({ mode: bridge.mode, other_call_id: other.id }, 'calls joined');
    joined?.();
  }

  dissolve(): void {
    this.cancel();
  }

  /** Both calls go on without each other. */
  cancel(): void {
    this.#state = 'over';
    this.#bridge?.close();
    for (const { recording } of this.#calls) recording.followOthers();
  }

  /** One of the calls has ended, or leaves the other one. */
  left(callId: string): void {
    if (this.#state === 'over') return;
    const wereJoined = this.#state !== 'joining';
    this.cancel();
    if (!wereJoined) return;
    const gone = this.#calls.find(({ id }) => id === callId)?.termination ?? null;
    for (const call of this.#calls) if (call.id !== callId) call.end(endOfPaired(gone));
  }

  #fail(error: unknown): void {
    if (this.#state === 'over' || this.#state === 'joining') return;
    this.cancel();
    const detail = error instanceof Error ? error.message : String(error);
    for (const call of this.#calls) call.end({ code: 'bridge_failed', detail });
  }
}
