/** Supervisors at live calls (docs/supervise.md). */

/** What a supervisor does at a call: who hears it, besides hearing both sides. */
export type SupervisionMode = (typeof supervisionModes)[number];
/** To nobody, to the agent, to both; or to both in the agent's place, whom the other party hears no more. */
export const supervisionModes = ['listen', 'whisper', 'barge', 'take_over'] as const;

/** At one call, unless an edge is set otherwise. */
export const mostSupervisors = 3;
/** Of a text for an agent, characters. */
export const longestInstruction = 1000;
