/** What may go into production (contract 6.11): the question, its answers, and the gate. */
import type { blockingReasons } from '#shared/api/pathways.ts';

export type PromotionSubject =
  | { readonly kind: 'pathway'; readonly pathwayId: string; readonly version: number }
  | { readonly kind: 'persona'; readonly personaId: string; readonly versionId: string };

export interface PromotionRequest {
  readonly orgId: string;
  readonly subject: PromotionSubject;
  /** Hash of exactly what would be published. */
  readonly contentHash: string;
  /** Whether to start a batch of the blocking scenarios, unless one runs for the same content. */
  readonly startBatch: boolean;
}

/** A required scenario that has not passed on this content. */
export interface BlockingScenario {
  readonly scenario_id: string;
  readonly name: string;
  readonly reason: (typeof blockingReasons)[number];
  readonly latest_run_id: string | null;
  readonly score: number | null;
  /** Runs of different seeds that must have passed, and how many of the newest ones have. */
  readonly runs_required: number;
  readonly runs_passed: number;
}

export type PromotionVerdict =
  | { readonly passed: true }
  | {
      readonly passed: false;
      /** Null only when no batch was requested. */
      readonly batchId: string | null;
      readonly scenarios: readonly BlockingScenario[];
    };

export interface PromotionGate {
  judge(request: PromotionRequest): Promise<PromotionVerdict>;
  /** A publication now waits for a batch, which may already have ended. */
  awaited?(batchId: string): Promise<void>;
}

/** The registered gate; open while none is registered. */
export class PromotionGates implements PromotionGate {
  #gate: PromotionGate | null = null;

  /** @throws Error when one is already registered */
  register(gate: PromotionGate): void {
    if (this.#gate) throw new Error('a promotion gate is registered already');
    this.#gate = gate;
  }

  async judge(request: PromotionRequest): Promise<PromotionVerdict> {
    return this.#gate ? this.#gate.judge(request) : { passed: true };
  }

  async awaited(batchId: string): Promise<void> {
    await this.#gate?.awaited?.(batchId);
  }
}
