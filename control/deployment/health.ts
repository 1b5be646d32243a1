/** GET /health: whether calls can be taken; /health/live and /health/ready: of this process alone (contract 14.2). */
import { sql } from 'kysely';
import { Health, Live, Ready } from '#shared/api/deployment.ts';
import { faultWords } from '#shared/storage-fault.ts';
import type { App } from '../http/index.ts';
import type { DeploymentDeps } from './deps.ts';
import { partsOfEdge } from './edge-parts.ts';

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
  app.route({
    method: 'GET',
    url: '/health/live',
    config: { access: 'public' },
    schema: { summary: 'Whether the process answers', response: { 200: Live } },
    handler: async () => ({ status: 'ok' as const }),
  });
  // Edges do not count: a balancer that takes a control plane out because of them would leave nobody to connect to.
  app.route({
    method: 'GET',
    url: '/health/ready',
    config: { access: 'public' },
    schema: { summary: 'Whether this process can serve requests', response: { 200: Ready, 503: Ready } },
    handler: async (request, reply) => {
      const { database } = await readDatabase(services, (error) =>
        request.log.error({ err: error }, 'database is down'),
      );
      const { isLeaving: leaving } = services.leaving;
      const isReady = database === 'ok' && !leaving;
      if (!isReady) reply.header('retry-after', 1);
      const status = isReady ? 'ok' : 'unavailable';
      return reply.code(isReady ? 200 : 503).send({ status, checks: { database }, leaving });
    },
  });
}

async function readDatabase(
  { database }: DeploymentDeps,
  onError: (error: unknown) => void,
): Promise<{ readonly database: 'ok' | 'down'; readonly disk: 'ok' | 'failing' }> {
  try {
    await sql`select 1`.execute(database.db);
    const fault = await database.storageFault();
    if (fault === null) return { database: 'ok', disk: 'ok' };
    onError(new Error(`nothing can be stored: ${faultWords[fault]}`));
    return { database: 'down', disk: 'failing' };
  } catch (error) {
    onError(error);
    return { database: 'down', disk: 'ok' };
  }
}

async function readHealth(services: DeploymentDeps, onError: (error: unknown) => void): Promise<Health> {
  const { edgeConfig, edges, config, clock } = services;
  let version = 0;
  const { database: read, disk } = await readDatabase(services, onError);
  let stored = read;
  try {
    version = await edgeConfig.version();
  } catch (error) {
    if (stored === 'ok') onError(error);
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
      parts: edges.all.map((edge) => partsOfEdge(edge, clock.now())),
    },
    control: { disk, queue: (services.database.connections()?.waiting ?? 0) > 0 ? 'waiting' : 'ok' },
    database: { status: stored },
  };
}
