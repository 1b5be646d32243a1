/** Call outcomes in the call log (contract 3.4). */
export const outcomes = ['in_progress', 'completed', 'busy', 'no_answer', 'canceled', 'failed'] as const;
export type Outcome = (typeof outcomes)[number];
