/** Promotion to production: whether it is allowed, and what is pending. */
export { batchAwaited, dropPending, insertPending, listPending, takePending } from './pending-store.ts';
export {
  type BlockingScenario,
  type PromotionGate,
  PromotionGates,
  type PromotionRequest,
  type PromotionSubject,
  type PromotionVerdict,
} from './rules.ts';
