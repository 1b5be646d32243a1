/** Addresses behind host names that did not answer, so that calls try others first. */
import type { Clock } from '#shared/clock.ts';
import { endpointKey } from './circuit.ts';
import type { Target } from './resolve.ts';

export class DeadTargets {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #forgetAfterMs: number;
  /** Time of each observation, oldest first. */
  readonly #dead = new Map<string, number>();

  constructor(clock: Pick<Clock, 'elapsed'>, forgetAfterMs: number) {
    this.#clock = clock;
    this.#forgetAfterMs = forgetAfterMs;
  }

  /** @param owner organization of the call: a missing answer counts only for it; undefined: a probe, counts for all */
  saw(target: Target, reachable: boolean, owner: string | undefined): void {
    const key = targetKey(target, reachable ? undefined : owner);
    this.#dead.delete(key);
    if (reachable) {
      this.#dead.delete(targetKey(target, owner));
      return;
    }
    const now = this.#clock.elapsed();
    for (const [dead, at] of this.#dead) {
      if (at + this.#forgetAfterMs > now) break;
      this.#dead.delete(dead);
    }
    this.#dead.set(key, now);
  }

  /** The addresses in order, without those known not to answer, unless none would be left. */
  worthTrying(targets: readonly Target[], owner: string | undefined): readonly Target[] {
    const oldest = this.#clock.elapsed() - this.#forgetAfterMs;
    const isDead = (key: string): boolean => (this.#dead.get(key) ?? Number.NEGATIVE_INFINITY) > oldest;
    const alive = targets.filter(
      (target) => !isDead(targetKey(target, undefined)) && !isDead(targetKey(target, owner)),
    );
    return alive.length > 0 ? alive : targets;
  }
}

/** @param owner organization that the observation counts for; undefined: all */
function targetKey({ address, port }: Target, owner: string | undefined): string {
  const key = endpointKey({ host: address, port });
  return owner === undefined ? key : `${key} ${owner}`;
}
