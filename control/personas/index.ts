/** Personas: drafts, production versions, and the agent built from one. */
export { personaAgent } from './agent-store.ts';
export { promoteDraft } from './promote-store.ts';
export { personaRoutes } from './routes.ts';
export {
  findPersona,
  findPersonaVersion,
  findPersonaVersionByNumber,
  personasUsingPathway,
  personasUsingVersion,
  requirePersona,
} from './store.ts';
