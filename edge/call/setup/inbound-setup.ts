/**
 * Sets up an inbound call, from the INVITE to the ACK.
 *
 *     media leg -> SDP -> agent ready -> 200 -> ACK -> the call starts
 *                            | not ready: the fallback number takes the call, or it is rejected
 *               -> a party over a trunk (`dial`) -> 200 once it has answered
 *               -> a call to supervise -> 200
 */
import { type CodecName, defaultCodecs } from '#shared/codecs.ts';
import type { Call } from '../call.ts';
import { inboundCall, type SetupAction } from '../call-state.ts';
import { refusalStatus, retryAfterS, type Termination } from '../ending.ts';
import type { CallLeg, LegEvents } from '../ports/signaling.ts';
import type { Setup } from './setup.ts';

export class InboundSetup implements Setup {
  readonly machine = inboundCall;
  readonly first = 'offered';
  readonly #call: Call;
  readonly #leg: CallLeg;
  readonly #codecs: readonly CodecName[];
  readonly #ringAfterMs: number;
  #sdp = '';
  #ackSdp: string | null = null;

  /**
   * Subscribes to the leg's events; nothing else happens until `begin`.
   * @param codecs in order of preference; empty: the default list
   * @param ringAfterMs 180 is sent when the answer takes longer
   */
  constructor(call: Call, leg: CallLeg, codecs: readonly CodecName[], ringAfterMs: number) {
    this.#call = call;
    this.#leg = leg;
    this.#codecs = codecs.length > 0 ? codecs : defaultCodecs;
    this.#ringAfterMs = ringAfterMs;
    call.dialog.goOnOver(leg);
    leg.listen(this.#legEvents());
  }

  begin(): void {
    const call = this.#call;
    const { from, to } = call.facts;
    call.log.info({ from, to }, 'call offered');
    call.ledger.report();
    call.input('admit');
  }

  perform(action: SetupAction): void {
    const call = this.#call;
    switch (action) {
      case 'prepare':
        this.#prepare().catch((error: unknown) => call.failed(error));
        break;
      case 'ring':
        call.ledger.ringing = true;
        call.ledger.report();
        this.#leg.ring();
        break;
      case 'answer':
        this.#leg.answer(this.#sdp);
        break;
      case 'start':
        this.#start().catch((error: unknown) => call.failed(error));
        break;
      case 'reject':
        this.#reject();
        break;
    }
  }

  close(): void {}

  async #prepare(): Promise<void> {
    const call = this.#call;
    if (this.#leg.canRing) call.limits.after(this.#ringAfterMs, () => this.#ringIfWaiting());
    const media = await call.createMedia(this.#codecs);
    if (!media) return;
    const { offer } = call.facts;
    this.#sdp = offer === null ? await media.offer() : await media.answer(offer);
    if (call.termination) return;
    if (call.plan.supervises) return call.answer();
    if (call.plan.dial !== undefined) return this.#dial(call.plan.dial);
    const obstacle = await call.agent.prepare();
    if (call.termination) return;
    if (obstacle) await this.#fallBack(obstacle);
    else call.answer();
  }

  async #dial(target: string): Promise<void> {
    const call = this.#call;
    const outcome = await call.transfers.fallBack(target);
    if (outcome.ok || call.termination) return;
    const { reason: detail, sipCode } = outcome;
    // Its own statuses are the caller's, too: busy stays busy.
    call.end({
      code: 'dial_failed',
      detail,
      ...(sipCode !== null && sipCode >= 400 && { sipStatus: sipCode }),
    });
  }

  /** Contract section 10: the fallback number takes the call, which is answered once the fallback has answered. */
  async #fallBack(obstacle: Termination): Promise<void> {
    const call = this.#call;
    const number = call.plan.agent?.fallback_number ?? null;
    if (number === null) return call.end(obstacle);
    const why = obstacle.detail ?? 'The agent could not be started.';
    call.agent.close(why);
    const outcome = await call.transfers.fallBack(number);
    if (!outcome.ok) call.end({ ...obstacle, detail: `${why} Fallback to ${number}: ${outcome.reason}` });
  }

  #ringIfWaiting(): void {
    const call = this.#call;
    if (call.accepts('ring')) call.guarded(() => call.input('ring'));
  }

  /** The ACK arrived. With a late offer it carries the answer to ours. */
  async #start(): Promise<void> {
    const call = this.#call;
    if (call.facts.offer === null) {
      if (this.#ackSdp === null) {
        return call.end({ code: 'bad_answer', detail: 'The ACK carried no answer to our offer.' });
      }
      await call.media?.accept(this.#ackSdp);
      if (call.termination) return;
    }
    call.start();
  }

  #legEvents(): LegEvents {
    const call = this.#call;
    return {
      answered: () => call.guarded(() => call.input('sent')),
      acknowledged: (sdp) =>
        call.guarded(() => {
          this.#ackSdp = sdp;
          call.input('acknowledged');
        }),
      canceled: () => call.end({ code: 'caller_canceled', detail: null }),
      ...call.dialog.events(),
    };
  }

  #reject(): void {
    const termination = this.#call.termination ?? { code: 'internal_error' as const, detail: null };
    const status = refusalStatus(termination);
    this.#leg.reject({
      status,
      cause: { code: termination.code, detail: termination.detail },
      ...(termination.warning === undefined ? {} : { warning: termination.warning }),
      ...(status === 503 ? { retryAfterS } : {}),
    });
  }
}
