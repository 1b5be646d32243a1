/** An inbound call: performs the actions of the state machine on signaling, media and agent. */
import type { CodecName } from '#shared/codecs.ts';
import { accepts, step } from '#shared/state-machine.ts';
import type { TerminationCode } from '#shared/termination.ts';
import { type BodyOwner, CallBody } from './call-body.ts';
import type { CallPlan } from './call-plan.ts';
import { type CallAction, type CallInput, type CallState, inboundCall } from './call-state.ts';
import { inputFor, refusalStatus, type Termination } from './ending.ts';
import { type CallDeps, type LiveCall, retryAfterS } from './live-call.ts';
import type { CallLeg, LegEvents, LegFacts } from './ports/signaling.ts';
import type { Transfers } from './transfer/transfers.ts';

export class Call implements LiveCall, BodyOwner {
  readonly id: string;
  readonly direction = 'inbound';
  readonly plan: CallPlan;
  /** Facts of the INVITE that began the call; they stay when another dialog replaces the first. */
  readonly facts: LegFacts;
  #leg: CallLeg;
  readonly #ringAfterMs: number;
  readonly #body: CallBody;
  readonly #codecs: readonly CodecName[];
  readonly #ended: (call: Call) => void;
  #state: CallState = 'offered';
  #sdp = '';
  #ackSdp: string | null = null;

  /**
   * Subscribes to the leg's events; nothing else happens until `admit` or `end`.
   * @param ended called once, when everything of the call is released
   */
  constructor(
    id: string,
    leg: CallLeg,
    plan: CallPlan,
    codecs: readonly CodecName[],
    deps: CallDeps,
    ended: (call: Call) => void,
  ) {
    this.id = id;
    this.plan = plan;
    this.#leg = leg;
    this.facts = leg.facts;
    this.#codecs = codecs;
    this.#ringAfterMs = deps.settings.ringAfterMs;
    this.#ended = ended;
    const log = deps.log.child({ call_id: id, trunk_id: plan.trunkId, sip_call_id: leg.facts.sipCallId });
    this.#body = new CallBody(id, this, log, deps);
    leg.listen(this.#legEvents());
  }

  get state(): CallState {
    return this.#state;
  }

  get leg(): CallLeg {
    return this.#leg;
  }

  get transfers(): Transfers {
    return this.#body.transfers;
  }

  get termination(): TerminationCode | null {
    return this.#body.termination?.code ?? null;
  }

  get answered(): boolean {
    return this.#body.answered;
  }

  /** Starts to prepare media and agent; the call then answers or rejects itself. */
  admit(): void {
    this.#body.guarded(() => {
      this.#body.log.info({ from: this.facts.from, to: this.facts.to }, 'call offered');
      this.#body.ledger.report();
      this.input('admit');
    });
  }

  end(termination: Termination): void {
    this.#body.guarded(() => {
      this.#body.termination ??= termination;
      this.input(inputFor(termination));
    });
  }

  accepts(input: CallInput): boolean {
    return accepts(inboundCall, this.#state, input);
  }

  input(input: CallInput): void {
    const { to, actions } = step(inboundCall, this.#state, input);
    const before = this.#state;
    this.#state = to;
    try {
      for (const action of actions) this.#perform(action);
    } finally {
      if (to === 'ended' && before !== 'ended') this.#ended(this);
    }
  }

  #perform(action: CallAction): void {
    switch (action) {
      case 'prepare':
        this.#prepare().catch((error: unknown) => this.#body.failed(error));
        break;
      case 'ring':
        this.#body.ledger.ringing = true;
        this.#body.ledger.report();
        this.#leg.ring();
        break;
      case 'answer':
        this.#leg.answer(this.#sdp);
        break;
      case 'begin':
        this.#body.begin();
        break;
      case 'start':
        this.#start().catch((error: unknown) => this.#body.failed(error));
        break;
      case 'finish':
        this.#body.finish();
        break;
      case 'reject':
        this.#reject();
        break;
      case 'bye':
        this.#leg.bye(this.#body.why);
        break;
    }
  }

  async #prepare(): Promise<void> {
    const body = this.#body;
    if (this.#leg.canRing) body.after(this.#ringAfterMs, () => this.#ringIfWaiting());
    const leg = await body.createMedia(this.#codecs);
    if (body.termination) return leg.close();
    body.media = leg;
    const { offer } = this.facts;
    this.#sdp = offer === null ? await leg.offer() : await leg.answer(offer);
    if (body.termination) return;
    const obstacle = await body.agent.prepare();
    if (body.termination) return;
    if (obstacle) await this.#fallBack(obstacle);
    else this.answer();
  }

  answer(): void {
    this.#body.guarded(() => this.input('ready'));
  }

  /** Contract section 10: the fallback number takes the call, which is answered once the fallback has answered. */
  async #fallBack(obstacle: Termination): Promise<void> {
    const body = this.#body;
    const number = this.plan.agent?.fallback_number ?? null;
    if (number === null) return this.end(obstacle);
    const why = obstacle.detail ?? 'The agent could not be started.';
    body.agent.close(why);
    const outcome = await body.transfers.fallBack(number);
    if (!outcome.ok) this.end({ ...obstacle, detail: `${why} Fallback to ${number}: ${outcome.reason}` });
  }

  goOnOver(leg: CallLeg): void {
    const replaced = this.#leg;
    this.#leg = leg;
    replaced.bye('Replaced by another dialog');
  }

  #ringIfWaiting(): void {
    if (this.accepts('ring')) this.#body.guarded(() => this.input('ring'));
  }

  async #start(): Promise<void> {
    const body = this.#body;
    if (this.facts.offer === null) {
      if (this.#ackSdp === null) {
        return this.end({ code: 'bad_answer', detail: 'The ACK carried no answer to our offer.' });
      }
      await body.media?.accept(this.#ackSdp);
      if (body.termination) return;
    }
    body.start();
  }

  #legEvents(): LegEvents {
    const body = this.#body;
    return {
      answered: () => body.guarded(() => this.input('sent')),
      acknowledged: (sdp) =>
        body.guarded(() => {
          this.#ackSdp = sdp;
          this.input('acknowledged');
        }),
      canceled: () => this.end({ code: 'caller_canceled', detail: null }),
      ...body.dialogEvents('caller_hangup'),
    };
  }

  #reject(): void {
    const termination = this.#body.termination ?? { code: 'internal_error' as const, detail: null };
    const status = refusalStatus(termination);
    this.#leg.reject({
      status,
      ...(termination.warning === undefined ? {} : { warning: termination.warning }),
      ...(status === 503 ? { retryAfterS } : {}),
    });
  }
}
