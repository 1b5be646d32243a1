/** How the call log names the end of a call (contract 3.4). */
export const outcomes = ['in_progress', 'completed', 'busy', 'no_answer', 'canceled', 'failed'] as const;
export type Outcome = (typeof outcomes)[number];
