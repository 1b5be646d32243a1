import type {
  BlockingScenario,
  PromotionGate,
  PromotionRequest,
  PromotionVerdict,
} from '../../../control/promotion/rules.ts';

export const blocking: BlockingScenario = {
  scenario_id: '11111111-1111-4111-8111-111111111111',
  name: 'Angry refund',
  reason: 'NO_RUN',
  latest_run_id: null,
  score: null,
  runs_required: 1,
  runs_passed: 0,
};

/** A gate that a test opens and closes; it records its questions. */
export class FakeGate implements PromotionGate {
  open = false;
  readonly batchId = '22222222-2222-4222-8222-222222222222';
  readonly asked: PromotionRequest[] = [];
  /** Runs while a question is being answered. */
  meanwhile: () => Promise<unknown> = async () => undefined;

  async judge(request: PromotionRequest): Promise<PromotionVerdict> {
    this.asked.push(request);
    const once = this.meanwhile;
    this.meanwhile = async () => undefined;
    await once();
    if (this.open) return { passed: true };
    return { passed: false, batchId: request.startBatch ? this.batchId : null, scenarios: [blocking] };
  }
}
