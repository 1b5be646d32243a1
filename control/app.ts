/** Puts the control plane together: database, API, edge link, background work. It does not listen; its caller does. */
import type { Registry } from 'prom-client';
import { type Clock, systemClock } from '#shared/clock.ts';
import { withLimits } from '#shared/limits.ts';
import { alertRoutes, alertSenders, startAlerts } from './alerts/index.ts';
import { auditRoutes } from './audit/index.ts';
import { createBackground } from './background.ts';
import { callRoutes, completedBody, startEarlierCalls, startLostCalls } from './calls/index.ts';
import { chatRoutes } from './chats/index.ts';
import { checkRoutes } from './checks/index.ts';
import { ConsoleBuild, consoleRoutes } from './console/index.ts';
import {
  type Database,
  livingReplicas,
  measureReplica,
  openDatabase,
  rounds,
  type SecretBox,
  together,
} from './db/index.ts';
import {
  addOpenApi,
  createMetrics,
  healthRoute,
  measureSpans,
  metricsRoute,
  openApiRoutes,
} from './deployment/index.ts';
import { acceptEdges } from './edge-link/index.ts';
import { edgeRoutes } from './edges/index.ts';
import { createEvents, eventRoutes } from './events/index.ts';
import {
  type App,
  addDurableAnswers,
  addIdempotency,
  createBase,
  traceRequests,
  trackRequests,
} from './http/index.ts';
import { numberRoutes } from './inbound/index.ts';
import { controlLimits } from './limits.ts';
import { once } from './once.ts';
import { deploymentSecrets } from './operations/index.ts';
import { addGuard, organizationRoutes } from './organizations/index.ts';
import { pathwayRoutes } from './pathways/index.ts';
import { personaRoutes } from './personas/index.ts';
import { phoneSessionRoutes } from './phone-sessions/index.ts';
import { portingParts, portingRoutes, preparePorting, startPorting } from './porting/index.ts';
import { ensureRecordingKey } from './recording-keys/index.ts';
import { recordingRoutes, startStorageWork } from './recordings/index.ts';
import { Bus, measureBus } from './replicas/index.ts';
import { closeCallsWithoutOutbox, reportStoreOf } from './report-writers.ts';
import { startRetention } from './retention.ts';
import { type AppOptions, createServices, type Services } from './services.ts';
import {
  analysisRoutes,
  analyticsRoutes,
  calibrationRoutes,
  createTestRuns,
  createTornado,
  foreignAgentRoutes,
  noiseRoutes,
  registerGate,
  scenarioRoutes,
  startWatches,
  testRunRoutes,
  tornadoRoutes,
  watchMetrics,
  watchRoutes,
} from './testing/index.ts';
import { edgeToolRoute, integrationRoutes, sealEarlierBodies, toolRoutes } from './tools/index.ts';
import { registerRoutes, sipRoutes } from './trunks/index.ts';
import { sendEvent, startWebhookDeliveries, webhookRoutes } from './webhooks/index.ts';
import { createWidgets, visitorRoutes, widgetMetrics, widgetRoutes } from './widgets/index.ts';

export interface ControlApp {
  readonly app: App;
  readonly services: Services;
  /** Of `GET /metrics`, without those of the edges. */
  readonly metrics: Registry;
  /**
   * Starts the background work, once the program listens and has said so. Programs that only use the API never call it.
   */
  begin(): Promise<void>;
  /**
   * After a fault: accepts no more requests, starts no background work, and finishes running requests. Background work
   * stays recorded as under way, because it may have caused the fault: it counts as an attempt and is delayed after the
   * next start.
   */
  drain(): Promise<void>;
  /** What is running, for a fault report: requests and background work, no caller data. */
  underWay(): Record<string, unknown>;
  /** Before an orderly end: hands over to other control planes on the database, if there are any (leaving.ts). */
  leave(): Promise<void>;
  /** Closes connections, background work and the database, in this order. Later calls return the same promise. */
  close(): Promise<void>;
}

/** @throws Error when the database cannot be opened or migrated */
export async function createApp(options: AppOptions): Promise<ControlApp> {
  const { config, logger, clock = systemClock } = options;
  // Before migrating: with the wrong key, nothing in the database may change.
  const secrets = await deploymentSecrets(config);
  const limits = withLimits(controlLimits, options.limits);
  const database = await openDatabase(config.database, clock, {
    limits: limits.db,
    sync: options.sync,
    migrating: (missing) =>
      logger.info({ migrations: missing }, 'the database is of an earlier version and is migrated'),
  });
  const bus = new Bus({ database, clock, limits: limits.replicas, id: config.instanceId, log: logger });
  try {
    return await assemble(options, database, secrets, clock, bus);
  } catch (error) {
    await bus.close();
    await database.close();
    logger.fatal({ err: error }, 'the control plane could not be put together');
    throw error;
  }
}

async function assemble(
  options: AppOptions,
  database: Database,
  secrets: SecretBox,
  clock: Clock,
  bus: Bus,
): Promise<ControlApp> {
  const { config, logger, checkAnswers = false } = options;
  const services = createServices(options, database, secrets, clock, bus);
  await services.bus.start();
  if (services.bus.listening !== null) await joinReplicas(services);
  await services.sharedEdges.start();
  await ensureRecordingKey(database.db, clock, secrets);
  await services.edgeConfig.publishAll();
  await services.fleet.open();
  const app = createBase({
    logger,
    checkAnswers,
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
  });
  const { tracing = null } = options;
  if (tracing) traceRequests(app, tracing);
  const requests = trackRequests(app, clock);
  const metrics = createMetrics(app, services);
  services.tools.measure(metrics.registry);
  services.quotas.measure(metrics.registry);
  services.wrongKeys.measure(metrics.registry);
  services.accessMetrics.measure(metrics.registry);
  measureReplica(services.replica, metrics.registry);
  measureBus(metrics.registry, services.bus);
  measureSpans(metrics.registry, tracing);
  const { tools } = services.tools;
  services.leaving.follow(app);
  const openApi = addOpenApi(app);
  addGuard(app, {
    ...config,
    db: database.db,
    clock,
    wrongKeys: services.wrongKeys,
    sharedCounts: services.sharedCounts,
    accessMetrics: services.accessMetrics,
  });
  addIdempotency(app, services);
  addDurableAnswers(app, database);
  const posting = {
    ...services,
    db: database.db,
    timeoutMs: services.limits.webhooks.timeoutMs,
    ...options.webhooks,
  };
  const senders = alertSenders(config, services.limits.alerts, clock, logger);
  const porting = portingParts(services, logger, metrics.registry);
  const widgets = createWidgets(services, logger, widgetMetrics(metrics.registry));
  const events = createEvents(services, logger, metrics.registry);
  const testRuns = createTestRuns(services, logger, metrics.registry);
  if (options.promotionGate) services.promotionGates.register(options.promotionGate);
  else registerGate(services, testRuns);
  const tornado = createTornado(services, testRuns, logger, metrics.registry);
  const consoleBuild = new ConsoleBuild(process.env);
  app.register(async (routes) =>
    addRoutes(routes, services, consoleBuild, (scope) => {
      metricsRoute(scope, services, metrics);
      toolRoutes(scope, services, tools);
      edgeToolRoute(scope, services, tools);
      widgetRoutes(scope, services, widgets);
      visitorRoutes(scope, services, widgets, consoleBuild);
      portingRoutes(scope, services, porting);
      alertRoutes(scope, services, { senders, sendWebhook: (...event) => sendEvent(posting, ...event) });
      testRunRoutes(scope, services, testRuns);
      tornadoRoutes(scope, services, tornado);
      eventRoutes(scope, services, events);
      openApiRoutes(scope, openApi);
    }),
  );
  await app.ready();
  const sealed = await sealEarlierBodies(database, services.secrets);
  if (sealed > 0) logger.info({ rows: sealed }, 'tools of an earlier version were sealed');
  await preparePorting(services, porting, logger);

  const store = reportStoreOf(services);
  const reports = options.watchReports?.(store) ?? store;
  const parts = {
    ...services,
    db: database.db,
    reports,
    config: services.edgeConfig,
    log: logger,
    commandTimeoutMs: services.limits.edgeLink.commandTimeoutMs,
    onReports: metrics.reports,
    outboxLost: (edgeId: string) => closeCallsWithoutOutbox(services, edgeId),
  };
  const edgeConnections = acceptEdges(app.server, parts, services.limits.edgeLink.frameBytes, (...upgrade) =>
    services.agentTestSockets.take(...upgrade),
  );
  const { random } = options.webhooks ?? {};
  const { replica } = services;
  const calls = { lost: metrics.lostCalls, queued: metrics.queuedCalls };
  const background = createBackground({
    tornado,
    testRuns,
    settled: () => services.replica.settled(),
    startOthers: () =>
      together([
        startPorting(services, porting, senders.email, logger, random),
        startWebhookDeliveries({
          ...posting,
          bodyOf: completedBody,
          log: logger,
          onAttempt: metrics.webhook,
        }),
        startAlerts(services, senders, logger, metrics.alerts, random),
        startStorageWork(services, logger, metrics.registry),
        startWatches(services, logger, watchMetrics(metrics.registry, database.db)),
        replica.whileHeld('lost calls', () => rounds(startLostCalls(services, logger, calls))),
        replica.whileHeld('earlier calls', () => rounds(startEarlierCalls(services, logger))),
        replica.whileHeld('retention', () => rounds(startRetention(services, logger, metrics.retention))),
        replica.whileHeld('widget sweep', () => rounds(widgets.startSweep())),
        replica.whileHeld('widget calls', () => rounds(widgets.startSpoken())),
        replica.whileHeld('events', () => rounds(events.startSweep())),
        replica.whileHeld('fleet', () => rounds(services.fleet.start())),
      ]),
  });
  return {
    app,
    services,
    metrics: metrics.registry,
    begin: () => background.begin(),
    underWay: () => ({
      listening: app.server.listening,
      requests: requests(),
      work: database.workUnderWay(),
    }),
    drain: once(async () => {
      background.hold();
      events.close();
      services.agentTestSockets.close();
      await edgeConnections.close();
      await app.close();
    }),
    leave: once(() => services.leaving.begin(background, edgeConnections)),
    close: once(async () => {
      await background.close();
      services.agentTestSockets.close();
      await edgeConnections.close();
      events.close();
      await widgets.close();
      await tools.close();
      await app.close();
      await services.sharedEdges.close();
      await services.replica.close();
      await services.bus.close();
      await database.close();
      await tracing?.close();
    }),
  };
}

/** The others tell this replica what it has to know, and it follows which of them live. */
async function joinReplicas({ bus, database, replica }: Services): Promise<void> {
  await replica.start();
  const living = () => livingReplicas(database.apart);
  await bus.transients.begin(await living());
  replica.onLook(() => {
    // Without an answer they stay as they were; the next look follows.
    living().then(
      (ids) => bus.transients.look(ids),
      () => undefined,
    );
  });
}

/** Every area of the API; a new area is one more line. */
function addRoutes(
  app: App,
  services: Services,
  consoleBuild: ConsoleBuild,
  addOthers: (app: App) => void,
): void {
  healthRoute(app, services);
  addOthers(app);
  sipRoutes(app, services);
  checkRoutes(app, services);
  registerRoutes(app, services);
  callRoutes(app, services);
  recordingRoutes(app, services);
  phoneSessionRoutes(app, services);
  organizationRoutes(app, services);
  auditRoutes(app, services);
  webhookRoutes(app, services);
  edgeRoutes(app, services);
  numberRoutes(app, services);
  pathwayRoutes(app, services);
  personaRoutes(app, services);
  chatRoutes(app, services);
  integrationRoutes(app, services);
  scenarioRoutes(app, services);
  foreignAgentRoutes(app, services);
  analyticsRoutes(app, services);
  analysisRoutes(app, services);
  calibrationRoutes(app, services);
  watchRoutes(app, services);
  noiseRoutes(app, services);
  consoleRoutes(app, services, consoleBuild);
}
