/**
 * An outbound call: performs the actions of the state machine on routes, signaling, media and agent.
 *
 *     hunt.next() -> media leg with an offer -> INVITE -> answered | the next endpoint | the end
 *
 * Every attempt has its own media leg, so no two endpoints see the same SRTP key.
 */
import { accepts, step } from '#shared/state-machine.ts';
import type { TerminationCode } from '#shared/termination.ts';
import { type BodyOwner, CallBody } from './call-body.ts';
import type { CallPlan } from './call-plan.ts';
import { attemptFacts } from './causes/cause-words.ts';
import { inputFor, type Termination } from './ending.ts';
import type { CallDeps, LiveCall } from './live-call.ts';
import type { Log } from './log.ts';
import { Attempt, type AttemptEvents } from './outbound-attempt.ts';
import { OutboundMedia } from './outbound-media.ts';
import type { OutboundParts, OutboundPlan } from './outbound-plan.ts';
import {
  type OutboundAction,
  type OutboundInput,
  type OutboundState,
  outboundCall,
} from './outbound-state.ts';
import { verdictOf } from './outbound-verdict.ts';
import type { LeftOutHeader } from './ports/dialing.ts';
import type { AttemptOutcome, Hunt, OutboundRoute, Place } from './ports/routes.ts';
import type { CallLeg, DialogLeg, LegFacts } from './ports/signaling.ts';
import { mappableVariables } from './record.ts';
import type { TargetLeg } from './transfer/target-leg.ts';
import type { Transfers } from './transfer/transfers.ts';

export class OutboundCall implements LiveCall, BodyOwner, TargetLeg {
  readonly id: string;
  readonly direction = 'outbound';
  readonly #order: OutboundPlan;
  readonly #parts: OutboundParts;
  readonly #deps: CallDeps;
  readonly body: CallBody;
  readonly #media: OutboundMedia;
  readonly #sipCallId: string;
  readonly #ended: (call: OutboundCall) => void;
  #state: OutboundState = 'queued';
  #hunt: Hunt | null = null;
  #attempt: Attempt | null = null;
  /** The dialog that replaced the original one. */
  #replacement: CallLeg | null = null;
  /** How the call ends when no endpoint is left. */
  #verdict: Termination | null = null;
  #dialled = false;
  /** Transcript notes about headers that were left out. */
  readonly #leftOut = new Set<string>();
  /** Settles when the agent is ready or failed and ended the call; null before the first attempt. */
  #agentReady: Promise<void> | null = null;

  /**
   * Nothing happens until `place` or `end`.
   * @param sipCallId Call-ID of all INVITEs of this call
   * @param ended called once, when everything of the call is released
   */
  constructor(
    order: OutboundPlan,
    sipCallId: string,
    parts: OutboundParts,
    deps: CallDeps,
    ended: (call: OutboundCall) => void,
  ) {
    this.id = order.callId;
    this.#order = order;
    this.#sipCallId = sipCallId;
    this.#parts = parts;
    this.#ended = ended;
    this.#deps = deps;
    this.body = new CallBody(order.callId, this, this.#logOf(null), deps);
    this.body.ledger.queued = true;
    this.#media = new OutboundMedia(this.body);
  }

  get state(): OutboundState {
    return this.#state;
  }

  get plan(): CallPlan {
    const { leg } = this.#order;
    return {
      ...this.#order,
      number: this.#order.from,
      trunkId: this.#attempt?.place.route.trunkId ?? null,
      ...(leg && { parentId: leg.parentId, transfer: leg.events, deadline: leg.deadline }),
    };
  }

  get facts(): LegFacts {
    const { from, to } = this.#order;
    return {
      sipCallId: this.#sipCallId,
      direction: 'outbound',
      from,
      to,
      sourceIp: this.#attempt?.place.target.address ?? null,
      offer: null,
    };
  }

  get leg(): DialogLeg | null {
    return this.#replacement ?? this.#attempt?.leg ?? null;
  }

  get route(): OutboundRoute | null {
    return this.#attempt?.place.route ?? null;
  }

  get transfers(): Transfers {
    return this.body.transfers;
  }

  get termination(): TerminationCode | null {
    return this.body.termination?.code ?? null;
  }

  get answered(): boolean {
    return this.body.answered;
  }

  /** Whether an INVITE was sent. */
  get dialled(): boolean {
    return this.#dialled;
  }

  /** Starts the call. */
  place(): void {
    this.body.guarded(() => {
      const { from, to } = this.#order;
      this.body.log.info({ from, to }, 'call placed');
      this.body.ledger.report();
      this.#hunt = this.#parts.routes.hunt(from, to, this.#order.leg?.trunkId ?? null);
      if (!this.#hunt) return this.end({ code: 'no_route', detail: null });
      if (this.#hunt.forbidden) return this.end(this.#nowhere());
      this.body.ledger.attempts = this.#hunt.attempts;
      this.input('dial');
    });
  }

  end(termination: Termination): void {
    this.body.guarded(() => {
      this.body.termination ??= termination;
      this.input(inputFor(termination));
    });
  }

  accepts(input: OutboundInput): boolean {
    return accepts(outboundCall, this.#state, input);
  }

  input(input: OutboundInput): void {
    const { to, actions } = step(outboundCall, this.#state, input);
    const before = this.#state;
    this.#state = to;
    try {
      for (const action of actions) this.#perform(action);
    } finally {
      if (to === 'ended' && before !== 'ended') this.#ended(this);
    }
  }

  #perform(action: OutboundAction): void {
    const body = this.body;
    switch (action) {
      case 'attempt':
        this.#tryNext().catch((error: unknown) => body.failed(error));
        break;
      case 'ring':
        body.ledger.ringing = true;
        body.ledger.report();
        break;
      case 'begin':
        body.begin();
        break;
      case 'start':
        body.start();
        break;
      case 'finish':
        this.#abandon();
        body.finish();
        break;
      case 'cancel':
        this.#attempt?.leg?.cancel(body.why);
        break;
      case 'bye':
        this.leg?.bye(body.why);
        break;
    }
  }

  goOnOver(leg: CallLeg): void {
    const replaced = this.leg;
    this.#replacement = leg;
    replaced?.bye('Replaced by another dialog');
  }

  // ---------------------------------------------------------------- attempts

  async #tryNext(): Promise<void> {
    const place = (await this.#hunt?.next()) ?? null;
    const body = this.body;
    if (body.termination) return;
    if (!place) return this.end(this.#verdict ?? this.#nowhere());
    const attempt = new Attempt(place, this.#attemptEvents());
    this.#attempt = attempt;
    body.ledger.queued = false;
    body.ledger.report();
    body.log = this.#logOf(place);
    const { leg } = this.#order;
    this.#agentReady ??= this.#prepareAgent();
    const codecs = leg?.codecs(place.route) ?? place.route.codecs;
    const offer = await this.#media.begin(codecs, leg?.beside);
    if (offer !== null) this.#dial(attempt, offer);
  }

  async #prepareAgent(): Promise<void> {
    const speaker = this.#order.leg?.speaker;
    const obstacle = await this.body.agent.prepare(speaker);
    if (obstacle) this.end(obstacle);
  }

  #dial(attempt: Attempt, offer: string): void {
    const { place } = attempt;
    const { target, route } = place;
    const { dialer, ringTimeoutMs } = this.#parts;
    const { from, to } = this.#order;
    this.body.log.info({ host: target.host, port: target.port }, 'dialling');
    const invite = {
      sipCallId: this.#sipCallId,
      from,
      to,
      offer,
      headers: route.headers,
      variables: mappableVariables(this.id, this.facts, this.plan, this.#deps.clock.now()),
      credentials: route.credentials,
      replaces: this.#order.leg?.replaces ?? null,
      referredBy: this.#order.leg?.referredBy ?? null,
    };
    const inDialog = this.body.dialogEvents('callee_hangup');
    this.#dialled = true;
    attempt.leg = dialer.dial(target, invite, {
      ...inDialog,
      ...attempt.events(),
      headersLeftOut: (headers) => this.#noteLeftOut(headers),
      reaccept: async (answer) => {
        await inDialog.reaccept(answer);
        this.#media.renegotiated();
      },
    });
    const timer = this.body.after(ringTimeoutMs, () => this.#overdue(attempt, ringTimeoutMs));
    attempt.waits(() => this.body.cancel(timer));
  }

  /** Notes each header once, although every attempt leaves out the same ones. */
  #noteLeftOut(headers: readonly LeftOutHeader[]): void {
    for (const { name, why } of headers) {
      const text = `The header ${name} was not sent: ${why}.`;
      if (this.#leftOut.has(text)) continue;
      this.#leftOut.add(text);
      this.body.ledger.note(text);
    }
  }

  /** The ring time has expired. Without any response, the endpoint counts as unreachable. */
  #overdue(attempt: Attempt, ringTimeoutMs: number): void {
    const seconds = Math.round(ringTimeoutMs / 1000);
    if (attempt.heard) this.end({ code: 'no_answer', detail: `Nobody answered within ${seconds} s.` });
    else {
      this.body.guarded(() => {
        attempt.leg?.cancel('No response in time');
        this.#failed(attempt, { kind: 'no_response' });
      });
    }
  }

  #logOf(place: Place | null): Log {
    const trunk = place?.route.trunkId ?? null;
    return this.#deps.log.child({ call_id: this.id, trunk_id: trunk, sip_call_id: this.#sipCallId });
  }

  #attemptEvents(): AttemptEvents {
    const { body } = this;
    return {
      ringing: () =>
        body.guarded(() => {
          this.input('ring');
          this.#order.leg?.events.ringing();
        }),
      early: (sdp) => body.guarded(() => this.#media.early(sdp)),
      answered: (attempt, outcome, sdp) => body.guarded(() => this.#answered(attempt, outcome, sdp)),
      failed: (attempt, outcome) => body.guarded(() => this.#failed(attempt, outcome)),
      unanswered: () => this.end({ code: 'no_answer', detail: 'The trunk let it ring without end.' }),
    };
  }

  #failed(attempt: Attempt, outcome: AttemptOutcome): void {
    attempt.close();
    this.#verdict = verdictOf(attemptFacts(attempt.place, this.#order.to, outcome));
    const movesOn = this.#hunt?.ended(outcome).movesOn === true;
    const { code, detail } = this.#verdict;
    const { host, port } = attempt.place.target;
    this.body.log.info({ host, port, outcome: code, detail, moves_on: movesOn }, 'attempt failed');
    if (movesOn && this.accepts('next')) this.input('next');
    else this.end(this.#verdict);
  }

  /** No endpoint at all: no name resolved, or every address is forbidden. */
  #nowhere(): Termination {
    if (this.#hunt?.forbidden) return { code: 'target_not_allowed', detail: this.#hunt.forbidden };
    const error = this.#hunt?.attempts.at(-1)?.error;
    return {
      code: 'route_unreachable',
      detail: error ?? 'The configurations of the number name no usable endpoint.',
    };
  }

  /** Tells the hunt that the current endpoint is not to blame. */
  #abandon(): void {
    if (!this.#attempt?.close()) return;
    this.body.attempt('settle the attempt', () => this.#hunt?.ended({ kind: 'canceled' }));
  }

  // ---------------------------------------------------------------- the answer

  #answered(attempt: Attempt, outcome: AttemptOutcome, sdp: string | null): void {
    const body = this.body;
    attempt.close();
    body.attempt('settle the attempt', () => this.#hunt?.ended(outcome));
    this.input('answered');
    this.#join(attempt, sdp).catch((error: unknown) => body.failed(error));
  }

  async #join(attempt: Attempt, sdp: string | null): Promise<void> {
    const body = this.body;
    await this.#media.answer(sdp, () => attempt.leg?.renegotiate());
    await this.#pressKeys();
    await this.#agentReady;
    if (!body.termination) body.guarded(() => this.input('ready'));
  }

  async #pressKeys(): Promise<void> {
    const { precallDtmf } = this.#order;
    const body = this.body;
    if (!precallDtmf || body.termination) return;
    try {
      await body.media?.sendDtmf(precallDtmf);
    } catch (error) {
      body.log.warn({ err: error, digits: precallDtmf }, 'the keys before the call could not be pressed');
      const why = error instanceof Error ? error.message : String(error);
      body.ledger.note(`The keys ${precallDtmf} could not be pressed: ${why}.`);
    }
  }
}
