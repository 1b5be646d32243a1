/**
 * Sets up an outbound call, from the command to the answer or the failure of its last endpoint.
 *
 *     hunt.next() -> media leg with an offer -> INVITE -> answered -> agent ready -> the call starts
 *                                                  | the next endpoint, or the end
 *
 * Every attempt has its own media leg, so no two endpoints see the same SRTP key.
 */
import type { Clock } from '#shared/clock.ts';
import { type CodecName, defaultCodecs } from '#shared/codecs.ts';
import type { Call } from '../call.ts';
import type { OutboundParts } from '../call-deps.ts';
import type { OutboundPlan } from '../call-plan.ts';
import { outboundCall, type SetupAction } from '../call-state.ts';
import { attemptFacts, terminationOfAttempt } from '../causes/cause-words.ts';
import type { Termination } from '../ending.ts';
import { speaksText } from '../ports/agents.ts';
import type { LeftOutHeader } from '../ports/dialing.ts';
import type { AttemptOutcome, Hunt } from '../ports/routes.ts';
import { mappableVariables } from '../record.ts';
import { Attempt, type AttemptEvents } from './attempt.ts';
import { OutboundMedia } from './outbound-media.ts';
import type { Setup } from './setup.ts';

export class OutboundSetup implements Setup {
  readonly machine = outboundCall;
  readonly first = 'queued';
  readonly #call: Call;
  readonly #order: OutboundPlan;
  readonly #parts: OutboundParts;
  readonly #clock: Clock;
  readonly #media: OutboundMedia;
  #hunt: Hunt | null = null;
  #attempt: Attempt | null = null;
  /** How the call ends when no endpoint is left. */
  #verdict: Termination | null = null;
  /** Transcript notes about headers that were left out. */
  readonly #leftOut = new Set<string>();
  /** Settles when the agent is ready or failed and ended the call; null before the first attempt. */
  #agentReady: Promise<void> | null = null;

  /** Nothing happens until `begin`. */
  constructor(call: Call, order: OutboundPlan, parts: OutboundParts, clock: Clock) {
    this.#call = call;
    this.#order = order;
    this.#parts = parts;
    this.#clock = clock;
    this.#media = new OutboundMedia(call);
    call.ledger.queued = true;
  }

  begin(): void {
    const call = this.#call;
    const { from, to, leg } = this.#order;
    call.log.info({ from, to }, 'call placed');
    call.ledger.report();
    this.#hunt = this.#parts.routes.hunt(from, to, leg?.trunkId ?? null);
    if (!this.#hunt) call.end({ code: 'no_route', detail: null });
    else if (this.#hunt.forbidden) call.end(this.#nowhere());
    else {
      call.ledger.attempts = this.#hunt.attempts;
      call.input('dial');
    }
  }

  perform(action: SetupAction): void {
    const call = this.#call;
    switch (action) {
      case 'attempt':
        this.#tryNext().catch((error: unknown) => call.failed(error));
        break;
      case 'ring':
        call.ledger.ringing = true;
        call.ledger.report();
        break;
      case 'start':
        call.start();
        break;
      case 'cancel':
        this.#attempt?.leg?.cancel(call.why);
        break;
    }
  }

  /** Tells the hunt that the current endpoint is not to blame. */
  close(): void {
    if (!this.#attempt?.close()) return;
    this.#call.attempt('settle the attempt', () => this.#hunt?.ended({ kind: 'canceled' }));
  }

  // ---------------------------------------------------------------- attempts

  async #tryNext(): Promise<void> {
    const call = this.#call;
    const hop = (await this.#hunt?.next()) ?? null;
    if (call.termination) return;
    if (!hop) return call.end(this.#verdict ?? this.#nowhere());
    const attempt = new Attempt(hop, this.#attemptEvents());
    this.#attempt = attempt;
    call.useHop(hop);
    const { leg } = this.#order;
    const given = leg?.codecs(hop.route) ?? hop.route.codecs;
    const codecs = given.length > 0 ? given : defaultCodecs;
    this.#agentReady ??= this.#prepareAgent(codecs[0] ?? null);
    const offer = await this.#media.begin(codecs, leg?.beside);
    if (this.#waitsForVoice) await this.#parts.voiceLoaded?.();
    if (offer !== null && !call.termination) this.#dial(attempt, offer);
  }

  /** A transfer target's agent listens to keys at most. */
  get #waitsForVoice(): boolean {
    const { agent, leg } = this.#order;
    return !leg && agent !== null && speaksText(agent);
  }

  /** @param expected the codec that we offer first: the agent must be ready before the peer has chosen */
  async #prepareAgent(expected: CodecName | null): Promise<void> {
    const speaker = this.#order.leg?.speaker;
    const obstacle = await this.#call.agent.prepare(speaker, expected);
    if (obstacle) this.#call.end(obstacle);
  }

  #dial(attempt: Attempt, offer: string): void {
    const call = this.#call;
    const { id, facts, plan } = call;
    const { hop } = attempt;
    const { target, route } = hop;
    const { dialer, ringTimeoutMs } = this.#parts;
    const { from, to } = this.#order;
    call.log.info({ host: target.host, port: target.port }, 'dialling');
    const invite = {
      sipCallId: facts.sipCallId,
      from,
      to,
      offer,
      headers: route.headers,
      variables: mappableVariables(id, facts, plan, this.#clock.now()),
      credentials: route.credentials,
      replaces: this.#order.leg?.replaces ?? null,
      referredBy: this.#order.leg?.referredBy ?? null,
    };
    const inDialog = call.dialog.events();
    call.dialled = true;
    attempt.leg = dialer.dial(target, invite, {
      ...inDialog,
      ...attempt.events(),
      headersLeftOut: (headers) => this.#noteLeftOut(headers),
      reaccept: async (answer) => {
        await inDialog.reaccept(answer);
        this.#media.renegotiated();
      },
    });
    const timer = call.limits.after(ringTimeoutMs, () => this.#overdue(attempt, ringTimeoutMs));
    attempt.waits(() => timer.cancel());
  }

  /** Notes each header once, although every attempt leaves out the same ones. */
  #noteLeftOut(headers: readonly LeftOutHeader[]): void {
    for (const { name, why } of headers) {
      const text = `The header ${name} was not sent: ${why}.`;
      if (this.#leftOut.has(text)) continue;
      this.#leftOut.add(text);
      this.#call.ledger.note(text);
    }
  }

  /** The ring time has expired. Without any response, the endpoint counts as unreachable. */
  #overdue(attempt: Attempt, ringTimeoutMs: number): void {
    const call = this.#call;
    const seconds = Math.round(ringTimeoutMs / 1000);
    if (attempt.hadResponse) call.end({ code: 'no_answer', detail: `Nobody answered within ${seconds} s.` });
    else {
      call.guarded(() => {
        attempt.leg?.cancel('No response in time');
        this.#failed(attempt, { kind: 'no_response' });
      });
    }
  }

  #attemptEvents(): AttemptEvents {
    const call = this.#call;
    return {
      ringing: () =>
        call.guarded(() => {
          call.input('ring');
          this.#order.leg?.events.ringing();
        }),
      early: (sdp) => call.guarded(() => this.#media.early(sdp)),
      answered: (attempt, outcome, sdp) => call.guarded(() => this.#answered(attempt, outcome, sdp)),
      failed: (attempt, outcome) => call.guarded(() => this.#failed(attempt, outcome)),
      unanswered: () =>
        call.end({ code: 'no_answer', detail: 'The trunk kept ringing without a final response.' }),
    };
  }

  #failed(attempt: Attempt, outcome: AttemptOutcome): void {
    const call = this.#call;
    attempt.close();
    this.#verdict = terminationOfAttempt(attemptFacts(attempt.hop, this.#order.to, outcome));
    const movesOn = this.#hunt?.ended(outcome).movesOn === true;
    const { code, detail } = this.#verdict;
    const { host, port } = attempt.hop.target;
    call.log.info({ host, port, outcome: code, detail, moves_on: movesOn }, 'attempt failed');
    if (movesOn && call.accepts('next')) call.input('next');
    else call.end(this.#verdict);
  }

  /** No endpoint at all: no name resolved, or every address is forbidden. */
  #nowhere(): Termination {
    if (this.#hunt?.forbidden) return { code: 'target_not_allowed', detail: this.#hunt.forbidden };
    const error = this.#hunt?.attempts.at(-1)?.error;
    return {
      code: 'route_unreachable',
      detail: error ?? "The number's configurations have no usable endpoint.",
    };
  }

  // ---------------------------------------------------------------- the answer

  #answered(attempt: Attempt, outcome: AttemptOutcome, sdp: string | null): void {
    const call = this.#call;
    attempt.close();
    call.attempt('settle the attempt', () => this.#hunt?.ended(outcome));
    if (attempt.leg) call.dialog.goOnOver(attempt.leg);
    call.input('answered');
    this.#join(attempt, sdp).catch((error: unknown) => call.failed(error));
  }

  async #join(attempt: Attempt, sdp: string | null): Promise<void> {
    const call = this.#call;
    await this.#media.answer(sdp, () => attempt.leg?.renegotiate('required'));
    await this.#pressKeys();
    await this.#agentReady;
    if (!call.termination) call.guarded(() => call.input('ready'));
  }

  async #pressKeys(): Promise<void> {
    const { precallDtmf } = this.#order;
    const call = this.#call;
    if (!precallDtmf || call.termination) return;
    try {
      await call.media?.sendDtmf(precallDtmf);
    } catch (error) {
      call.log.warn({ err: error, digits: precallDtmf }, 'the pre-call keys could not be sent');
      const why = error instanceof Error ? error.message : String(error);
      call.ledger.note(`The keys ${precallDtmf} could not be sent: ${why}.`);
    }
  }
}
