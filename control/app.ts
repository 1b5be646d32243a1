/** Puts the control plane together: database, API, edge link, background work. Listens to nothing by itself. */
import type { FastifyBaseLogger } from 'fastify';
import { type Clock, systemClock, type Timer } from '#shared/clock.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { callRoutes } from './calls/routes.ts';
import type { ControlConfig } from './config.ts';
import { type Database, openDatabase } from './db/open.ts';
import { loadSecretKey, SecretBox } from './db/secrets.ts';
import { healthRoute } from './deployment/health.ts';
import { createMetrics, metricsRoute } from './deployment/metrics.ts';
import { addOpenApi, openApiRoutes } from './deployment/openapi.ts';
import { Announcements } from './edges/announcements.ts';
import { ConnectedEdges } from './edges/registry.ts';
import { ReportStore } from './edges/reports.ts';
import { EdgeConfigStore } from './edges/store.ts';
import { acceptEdges } from './edges/upgrade.ts';
import type { App } from './http/app-types.ts';
import { createBase } from './http/base.ts';
import { addGuard } from './http/guard.ts';
import { addIdempotency } from './http/idempotency.ts';
import { numberRoutes } from './numbers/routes.ts';
import { organizationRoutes } from './organizations/routes.ts';
import { pathwayRoutes } from './pathways/routes.ts';
import { startRetention } from './retention.ts';
import type { Services } from './services.ts';
import { sipCallRoutes } from './sip/call-routes.ts';
import { checkRoutes } from './sip/check-routes.ts';
import { sipRoutes } from './sip/routes.ts';
import { type DeliveryParts, WebhookDeliveries } from './webhooks/deliveries.ts';

export interface ControlApp {
  readonly app: App;
  readonly services: Services;
  /** Ends connections, background work and the database, in this order. */
  close(): Promise<void>;
}

export interface AppOptions {
  readonly config: ControlConfig;
  readonly logger: FastifyBaseLogger;
  readonly clock?: Clock;
  /** Whether answers are checked against their schemas; for tests. */
  readonly checkAnswers?: boolean;
  /** How webhooks reach their targets, and when; for tests. */
  readonly webhooks?: Pick<DeliveryParts, 'resolve' | 'ca' | 'random'>;
}

/** @throws Error when the database cannot be opened or brought up to date */
export async function createApp(options: AppOptions): Promise<ControlApp> {
  const { config, logger, clock = systemClock } = options;
  const database = await openDatabase(config.databaseFile);
  try {
    return await assemble(options, database, clock);
  } catch (error) {
    await database.close();
    logger.fatal({ err: error }, 'the control plane could not be put together');
    throw error;
  }
}

async function assemble(options: AppOptions, database: Database, clock: Clock): Promise<ControlApp> {
  const { config, logger, checkAnswers = false } = options;
  const services = createServices(config, database, clock);
  await services.edgeConfig.publishAll();
  const app = createBase({ logger, checkAnswers });
  const metrics = createMetrics(app, services);
  addOpenApi(app);
  addGuard(app, { ...config, db: database.db, clock });
  addIdempotency(app, database.db, clock);
  app.register(async (routes) =>
    addRoutes(routes, services, (scope) => metricsRoute(scope, services, metrics)),
  );
  await app.ready();

  const reports = new ReportStore(database, clock);
  const parts = {
    ...services,
    db: database.db,
    reports,
    config: services.edgeConfig,
    log: logger,
    commandTimeoutMs: config.edgeCommandTimeoutMs,
    onReports: metrics.reports,
  };
  const stopEdges = acceptEdges(app.server, parts, config.edgeFrameBytes);
  const stopRetention = startRetention(database.db, clock, config, logger);
  const webhooks = new WebhookDeliveries({
    ...services,
    db: database.db,
    log: logger,
    timeoutMs: config.webhookTimeoutMs,
    onAttempt: metrics.webhook,
    ...options.webhooks,
  });
  const stopWatching = watchOthers(services.edgeConfig, clock, logger);
  return {
    app,
    services,
    close: async () => {
      await stopWatching();
      await webhooks.close();
      await stopEdges();
      await app.close();
      await stopRetention();
      await database.close();
    },
  };
}

/** Looks twice a second whether another process altered what edges are told. Returns a function that ends this. */
function watchOthers(edgeConfig: EdgeConfigStore, clock: Clock, log: FastifyBaseLogger): () => Promise<void> {
  const everyMs = 500;
  let running: Promise<void> = Promise.resolve();
  let timer: Timer;
  const look = () => {
    running = edgeConfig
      .noticeOthers()
      .catch((error: unknown) => log.error({ err: error }, 'configuration version could not be read'))
      .then(() => {
        if (!ended) timer = clock.after(everyMs, look);
      });
  };
  let ended = false;
  timer = clock.after(everyMs, look);
  return async () => {
    ended = true;
    timer.cancel();
    await running;
  };
}

function createServices(config: ControlConfig, database: Database, clock: Clock): Services {
  const secrets = new SecretBox(loadSecretKey(config.secretKey, config.dataFolder));
  const edgeConfig = new EdgeConfigStore(database, secrets, config);
  const allowedTargets = parseNetworks(config.allowPrivateTargets);
  return {
    config,
    clock,
    database,
    secrets,
    edgeConfig,
    edges: new ConnectedEdges(),
    announcements: new Announcements(clock),
    allowedTargets,
  };
}

/** Every area of the API. A new area is one more line. */
function addRoutes(app: App, services: Services, addMetrics: (app: App) => void): void {
  healthRoute(app, services);
  addMetrics(app);
  openApiRoutes(app);
  sipRoutes(app, services);
  sipCallRoutes(app, services);
  checkRoutes(app, services);
  callRoutes(app, services);
  organizationRoutes(app, services);
  numberRoutes(app, services);
  pathwayRoutes(app, services);
}
