/** What may go into production: the question, and what waits for an answer. */
export { dropPending, insertPending, listPending, takePending } from './pending-store.ts';
export {
  type BlockingScenario,
  type PromotionGate,
  PromotionGates,
  type PromotionRequest,
  type PromotionSubject,
  type PromotionVerdict,
} from './rules.ts';
