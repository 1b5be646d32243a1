/** GET /health: whether calls can be taken (contract 14.2). */
import { sql } from 'kysely';
import { Health } from '#shared/api/deployment.ts';
import { faultWords } from '#shared/storage-fault.ts';
import type { App } from '../http/index.ts';
import type { DeploymentDeps } from './deps.ts';

export function healthRoute(app: App, services: DeploymentDeps): void {
  app.route({
    method: 'GET',
    url: '/health',
    config: { access: 'public' },
    schema: { summary: 'Whether everything is ready', response: { 200: Health, 503: Health } },
    handler: async (request, reply) => {
      const health = await readHealth(services, (error) =>
        request.log.error({ err: error }, 'database is down'),
      );
      if (health.status === 'unavailable') reply.header('retry-after', 1);
      return reply.code(health.status === 'ok' ? 200 : 503).send(health);
    },
  });
}

async function readHealth(services: DeploymentDeps, onError: (error: unknown) => void): Promise<Health> {
  const { database, edgeConfig, edges, config } = services;
  let version = 0;
  let stored: 'ok' | 'down' = 'ok';
  try {
    await sql`select 1`.execute(database.db);
    version = await edgeConfig.version();
    const fault = await database.storageFault();
    if (fault !== null) {
      onError(new Error(`nothing can be stored: ${faultWords[fault]}`));
      stored = 'down';
    }
  } catch (error) {
    onError(error);
    stored = 'down';
  }
  const applied = edges.appliedVersion;
  const { draining, storage, withoutEngine } = edges;
  // A draining edge counts as gone: without EXPECT_EDGE, health is about the API.
  const staying = edges.all.filter((edge) => !draining.includes(edge));
  // An edge behind the latest write still takes calls.
  const edgeReady = !config.expectEdge || staying.some(({ appliedVersion }) => appliedVersion > 0);
  const callsTaken =
    staying.length === 0 ||
    staying.some((edge) => !storage.refusing.includes(edge.edgeId) && !withoutEngine.includes(edge));
  return {
    status: stored === 'ok' && edgeReady && callsTaken ? 'ok' : 'unavailable',
    checks: { database: stored, edges: edges.count },
    edge: {
      connected: edges.count,
      ids: edges.all.map((edge) => edge.edgeId).sort(),
      draining: draining.map((edge) => edge.edgeId).sort(),
      fleet: { epoch: services.fleet.epoch, members: [...services.fleet.members] },
      config_version: version,
      applied_version: applied,
      storage,
    },
    database: { status: stored },
  };
}
