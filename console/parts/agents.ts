/** What can answer a widget or a number: pathways and personas with their names. */
import { request } from '../api/client.ts';

export interface Agents {
  readonly pathways: ReadonlyMap<string, string>;
  readonly personas: ReadonlyMap<string, string>;
}

export async function readAgents(signal: AbortSignal): Promise<Agents> {
  const [pathways, personas] = await Promise.all([
    request('GET /v1/pathway', { query: { graphs: false, limit: 100 }, signal }),
    request('GET /v1/personas', { query: { limit: 100 }, signal }),
  ]);
  return {
    pathways: new Map(pathways.map(({ pathway_id: id, name }) => [id, name])),
    personas: new Map(personas.data.map(({ id, name }) => [id, name])),
  };
}
