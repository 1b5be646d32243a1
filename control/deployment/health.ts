/** GET /health: whether calls can be taken; /health/live and /health/ready: of this process alone (contract 14.2). */
import { sql } from 'kysely';
import { Health, Live, Ready } from '#shared/api/deployment.ts';
import { faultWords, storageFault } from '#shared/storage-fault.ts';
import type { App } from '../http/index.ts';
import type { DeploymentDeps } from './deps.ts';
import { partsOfEdge } from './edge-parts.ts';
import { OutageLog } from './outage-log.ts';

export function healthRoute(app: App, services: DeploymentDeps): void {
  const outage = new OutageLog(services.clock, app.log);
  app.route({
    method: 'GET',
    url: '/health',
    config: { access: 'public' },
    schema: { summary: 'Whether everything is ready', response: { 200: Health, 503: Health } },
    handler: async (_, reply) => {
      const health = await readHealth(services, outage);
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
    handler: async (_, reply) => {
      const { database } = await readDatabase(services, outage);
      const { isLeaving: leaving } = services.leaving;
      const isReady = database === 'ok' && !leaving;
      if (!isReady) reply.header('retry-after', 1);
      const status = isReady ? 'ok' : 'unavailable';
      return reply.code(isReady ? 200 : 503).send({ status, checks: { database }, leaving });
    },
  });
}

interface DatabaseReading {
  readonly database: 'ok' | 'down';
  readonly disk: 'ok' | 'failing';
}

/** @param more is read too */
async function readDatabase(
  { database }: DeploymentDeps,
  outage: OutageLog,
  more: () => Promise<void> = async () => undefined,
): Promise<DatabaseReading> {
  try {
    await sql`select 1`.execute(database.db);
    await more();
    const fault = await database.storageFault();
    if (fault === null) {
      outage.up();
      return { database: 'ok', disk: 'ok' };
    }
    outage.down(fault, new Error(`nothing can be stored: ${faultWords[fault]}`));
    return { database: 'down', disk: 'failing' };
  } catch (error) {
    outage.down(storageFault(error) ?? String(error), error);
    return { database: 'down', disk: 'ok' };
  }
}

async function readHealth(services: DeploymentDeps, outage: OutageLog): Promise<Health> {
  const { edgeConfig, edges, config, clock } = services;
  let version = 0;
  const { database: stored, disk } = await readDatabase(services, outage, async () => {
    version = await edgeConfig.version();
  });
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
