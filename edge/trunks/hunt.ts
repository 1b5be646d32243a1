/**
 * One outbound call's way through the routes of a number: chooses the next address and logs failed attempts
 * (contract 3.4). Within an endpoint all its targets are tried (RFC 3263 section 4.3) before the endpoint counts as
 * failed; a call fails over to another endpoint only for a trigger.
 *
 *     const hunt = new TrunkHunt(…);
 *     for (let hop = await hunt.next(); hop; hop = await hunt.next()) {
 *       if (!hunt.ended(await invite(hop)).movesOn) break;
 *     }
 */

import { type Beginning, beginning, type Clock, lengthMs } from '#shared/clock.ts';
import { connectionFailure } from '#shared/connection-faults.ts';
import type { OutboundTrunk } from '#shared/edge-protocol/numbers.ts';
import type { Endpoint, FailoverAttempt } from '#shared/trunk-protocol.ts';
import { type Cause, causeOf, reachableBy } from '../call/causes/outbound-cause.ts';
import type { AttemptOutcome, Hunt, NextHop } from '../call/ports/routes.ts';
import type { CallPlan, Failover, PlanStep } from './failover.ts';
import type { Resolution, Target } from './resolve.ts';

export interface HuntOptions {
  readonly clock: Clock;
  readonly failover: Pick<Failover, 'plan' | 'ended' | 'targetSeen' | 'worthTrying'>;
  readonly resolve: (endpoint: Endpoint) => Promise<Resolution>;
  /** Addresses of an endpoint that are tried; those that are known to be dead do not count. */
  readonly maxTargets: number;
}

interface Attempt extends PlanStep<OutboundTrunk>, Beginning {
  readonly target: Target;
}

export class TrunkHunt implements Hunt {
  /** Endpoints skipped because they were known to be dead, then every failed attempt, in order. */
  readonly attempts: FailoverAttempt[] = [];
  unresolved: string | null = null;
  readonly #options: HuntOptions;
  readonly #plan: CallPlan<OutboundTrunk>;
  #step = -1;
  #targets: readonly Target[] = [];
  #current: Attempt | null = null;
  #over = false;

  constructor(trunks: readonly OutboundTrunk[], options: HuntOptions) {
    this.#options = options;
    this.#plan = options.failover.plan(trunks);
    this.#logSkipped();
  }

  /** The next address to try; null when the call has ended or none is left. */
  async next(): Promise<NextHop | null> {
    const { clock, failover, resolve, maxTargets } = this.#options;
    while (!this.#over) {
      const [target, ...rest] = this.#targets;
      const step = this.#plan.steps[this.#step];
      if (target && step) {
        this.#targets = rest;
        this.#current = { ...step, target, ...beginning(clock) };
        return hopOf(step, target);
      }
      const following = this.#plan.steps[this.#step + 1];
      if (!following) break;
      this.#step += 1;
      const begun = beginning(clock);
      const resolution = await resolve(following.endpoint);
      if (resolution.ok) {
        const worthTrying = failover.worthTrying(resolution.targets, following.route);
        this.#targets = worthTrying.slice(0, maxTargets);
      } else this.#unresolved(following, begun, resolution.message);
    }
    this.#over = true;
    return null;
  }

  /** Records how the attempt from the last `next` ended. */
  ended(outcome: AttemptOutcome): { readonly movesOn: boolean } {
    const hop = this.#current;
    if (!hop) throw new Error('an attempt ended that was not started');
    this.#current = null;
    const { route, endpoint, target } = hop;
    const cause = causeOf(outcome);
    const trigger = cause?.trigger ?? null;
    const reachable = reachableBy(outcome);
    const { failover } = this.#options;
    if (reachable !== null) failover.targetSeen(target, reachable, route);
    if (cause && trigger !== null) this.#log(hop, hop, cause, target);
    if (trigger !== null && trigger !== 'auth_failure' && this.#targets.length > 0) return { movesOn: true };
    failover.ended(route, endpoint, outcome);
    const movesOn = trigger !== null && route.triggers.includes(trigger);
    this.#targets = [];
    this.#over = !movesOn;
    return { movesOn };
  }

  /** Logs the skipped endpoints that would have come before the first step; others are irrelevant. */
  #logSkipped(): void {
    const [first] = this.#plan.steps;
    const now = beginning(this.#options.clock);
    for (const step of this.#plan.skipped) {
      if (first && comesBefore(first, step)) continue;
      this.unresolved = 'failed the last probe or call';
      const verdict = { sipCode: null, error: `unreachable: ${this.unresolved}` };
      this.#log(step, now, verdict, step.endpoint);
    }
  }

  #unresolved(step: PlanStep<OutboundTrunk>, begun: Beginning, message: string): void {
    const { route, endpoint } = step;
    this.unresolved = message;
    const outcome = { kind: 'no_connection', failure: connectionFailure('no_address', message) } as const;
    this.#options.failover.ended(route, endpoint, outcome);
    const cause = causeOf(outcome);
    if (cause) this.#log(step, begun, cause, endpoint);
    this.#over = !route.triggers.includes('unreachable');
  }

  #log(
    { endpoint }: PlanStep<OutboundTrunk>,
    begun: Beginning,
    { sipCode, error }: Pick<Cause, 'sipCode' | 'error'>,
    { host, port }: { readonly host: string; readonly port: number },
  ): void {
    this.attempts.push({
      host,
      port,
      priority: endpoint.priority,
      started_at: new Date(begun.startedAt).toISOString(),
      sip_code: sipCode,
      error,
      duration_ms: lengthMs(this.#options.clock, begun),
    });
  }
}

function comesBefore(one: PlanStep<OutboundTrunk>, other: PlanStep<OutboundTrunk>): boolean {
  const byRecord = one.route.priority - other.route.priority;
  return (byRecord || one.endpoint.priority - other.endpoint.priority) < 0;
}

function hopOf({ route, endpoint }: PlanStep<OutboundTrunk>, target: Target): NextHop {
  const { id, credentials, headers, codecs, transcode } = route;
  return { route: { trunkId: id, credentials, headers, codecs, transcode }, endpoint, target };
}
