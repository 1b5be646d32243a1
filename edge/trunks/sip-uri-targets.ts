/**
 * A call to a SIP URI at a host that no configuration names: resolved directly (RFC 3263), with neither credentials nor
 * mapped headers (contract section 4). Its outcome does not affect any trunk.
 */
import { type Beginning, beginning, type Clock, lengthMs } from '#shared/clock.ts';
import type { FailoverAttempt } from '#shared/trunk-protocol.ts';
import { causeOf } from '../call/causes/outbound-cause.ts';
import type { AttemptOutcome, Hunt, NextHop, OutboundRoute } from '../call/ports/routes.ts';
import type { Resolution, Target } from './resolve.ts';

export interface SipUriTargetsOptions {
  readonly clock: Clock;
  readonly host: string;
  /** null: from SRV, else 5061. */
  readonly port: number | null;
  readonly resolve: (host: string, port: number | null) => Promise<Resolution>;
  /** Why the host may not be called, if the name alone decides that. */
  readonly forbidden: string | null;
}

const route: OutboundRoute = {
  trunkId: null,
  credentials: null,
  headers: [],
  codecs: [],
  transcode: false,
};

const defaultPort = 5061;

export class SipUriTargets implements Hunt {
  readonly attempts: FailoverAttempt[] = [];
  unresolved: string | null = null;
  readonly #options: SipUriTargetsOptions;
  #forbidden: string | null;
  #targets: readonly Target[] | null = null;
  #current: (Beginning & { readonly target: Target }) | null = null;
  #over = false;

  constructor(options: SipUriTargetsOptions) {
    this.#options = options;
    this.#forbidden = options.forbidden;
  }

  get forbidden(): string | null {
    return this.#forbidden;
  }

  async next(): Promise<NextHop | null> {
    const { clock, host, port } = this.#options;
    if (this.#over || this.#forbidden !== null) return null;
    const [target, ...rest] = this.#targets ?? (await this.#resolve());
    this.#targets = rest;
    if (!target) return null;
    this.#current = { target, ...beginning(clock) };
    const endpoint = { host, port: port ?? target.port, priority: 0 };
    return { route, endpoint, target: { ...target, foreign: true } };
  }

  async #resolve(): Promise<readonly Target[]> {
    const { clock, host, port, resolve } = this.#options;
    const begun = beginning(clock);
    const resolution = await resolve(host, port);
    if (resolution.ok) return resolution.targets;
    if (resolution.code === 'target_not_allowed') this.#forbidden = resolution.message;
    this.unresolved = resolution.message;
    this.#log({ host, port: port ?? defaultPort }, begun, null, `unreachable: ${resolution.message}`);
    return [];
  }

  /** Tries the host's next address in the same cases as a trunk would; a rejection is final. */
  ended(outcome: AttemptOutcome): { readonly movesOn: boolean } {
    const hop = this.#current;
    if (!hop) throw new Error('an attempt ended that was not started');
    this.#current = null;
    const cause = causeOf(outcome);
    const trigger = cause?.trigger ?? null;
    if (cause && trigger) this.#log(hop.target, hop, cause.sipCode, cause.error);
    const movesOn = trigger !== null && trigger !== 'auth_failure' && (this.#targets?.length ?? 0) > 0;
    this.#over = !movesOn;
    return { movesOn };
  }

  #log(
    { host, port }: Pick<Target, 'host' | 'port'>,
    begun: Beginning,
    sipCode: number | null,
    error: string | null,
  ): void {
    this.attempts.push({
      host,
      port,
      priority: 0,
      started_at: new Date(begun.startedAt).toISOString(),
      sip_code: sipCode,
      error,
      duration_ms: lengthMs(this.#options.clock, begun),
    });
  }
}
