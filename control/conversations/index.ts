/** Text conversations with pathways and personas. */
export { pathwayTextAgent, personaTextAgent } from './agent-store.ts';
export { nodeTool, type PathwayTextAgent, pathwaysOf, type TextAgent } from './text-agent.ts';
export type { TextSessionParts, TextState, TextTools } from './text-parts.ts';
export { TextSession, type TextTurn } from './text-session.ts';
export { webhookClient } from './webhooks.ts';
