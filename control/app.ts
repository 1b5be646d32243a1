/** Puts the control plane together: database, API, edge link, background work. It does not listen; its caller does. */
import type { FastifyBaseLogger } from 'fastify';
import { type Clock, systemClock } from '#shared/clock.ts';
import { withLimits } from '#shared/limits.ts';
import { createModels } from '#shared/models/models.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { alertRoutes, alertSenders, logSender, smsSender, startAlerts } from './alerts/index.ts';
import { auditRoutes } from './audit/index.ts';
import { createBackground } from './background.ts';
import { callRoutes, completedBody, searchRoutes, sipCallRoutes, startLostCalls } from './calls/index.ts';
import { Catalogue } from './catalogue/index.ts';
import { linkCatalogue } from './catalogue-links.ts';
import { chatRoutes } from './chats/index.ts';
import { checkRoutes } from './checks/index.ts';
import { consoleRoutes } from './console/index.ts';
import { type TextSessionParts, webhookClient } from './conversations/index.ts';
import {
  type Database,
  livingReplicas,
  measureReplica,
  openDatabase,
  Replica,
  rounds,
  type SecretBox,
  type SyncLog,
  together,
} from './db/index.ts';
import { addOpenApi, createMetrics, healthRoute, metricsRoute, openApiRoutes } from './deployment/index.ts';
import { followCatalogue } from './edge-config/index.ts';
import { Announcements, acceptEdges, ConnectedEdges, type Reports, SharedEdges } from './edge-link/index.ts';
import { edgeRoutes } from './edges/index.ts';
import { Fleet } from './fleet/index.ts';
import {
  type App,
  addDurableAnswers,
  addIdempotency,
  createBase,
  trackRequests,
  WrongKeys,
} from './http/index.ts';
import { numberRoutes } from './inbound/index.ts';
import { Leaving } from './leaving.ts';
import { type ControlLimits, controlLimits } from './limits.ts';
import { once } from './once.ts';
import { deploymentSecrets } from './operations/index.ts';
import { AccessMetrics, addGuard, organizationRoutes, Quotas } from './organizations/index.ts';
import { pathwayRoutes } from './pathways/index.ts';
import { personaRoutes } from './personas/index.ts';
import { portingParts, portingRoutes, preparePorting, startPorting } from './porting/index.ts';
import { type PromotionGate, PromotionGates } from './promotion/index.ts';
import { ensureRecordingKey } from './recording-keys/index.ts';
import { createRecordings, recordingRoutes, startStorageWork } from './recordings/index.ts';
import { Bus, measureBus, SharedCounts } from './replicas/index.ts';
import { closeCallsWithoutOutbox, createReportStore } from './report-writers.ts';
import { startRetention } from './retention.ts';
import type { ControlConfig } from './settings/index.ts';
import {
  AgentTestSockets,
  analysisRoutes,
  analyticsRoutes,
  createTestRuns,
  createTornado,
  registerGate,
  scenarioRoutes,
  testRunRoutes,
  tornadoRoutes,
} from './testing/index.ts';
import {
  edgeToolRoute,
  integrationRoutes,
  sealEarlierBodies,
  startTools,
  toolRoutes,
} from './tools/index.ts';
import { learnedState, registerRoutes, sipRoutes } from './trunks/index.ts';
import { type DeliveryParts, sendEvent, startWebhookDeliveries, webhookSubject } from './webhooks/index.ts';
import { createWidgets, visitorRoutes, widgetMetrics, widgetRoutes } from './widgets/index.ts';

export interface ControlApp {
  readonly app: App;
  readonly services: Services;
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

export interface AppOptions {
  readonly config: ControlConfig;
  readonly logger: FastifyBaseLogger;
  readonly clock?: Clock;
  /** Other limits than those of the product; for tests. */
  readonly limits?: ControlLimits;
  /** Whether responses are checked against their schemas; for tests. */
  readonly checkAnswers?: boolean;
  /** How webhooks reach their targets, and when webhooks and notices are retried; for tests. */
  readonly webhooks?: Pick<DeliveryParts, 'resolve' | 'ca' | 'random'>;
  /** Replaces models and webhooks in text conversations; for tests. */
  readonly conversations?: Partial<TextSessionParts>;
  /** Replaces the promotion gate of test scenarios; for tests. */
  readonly promotionGate?: PromotionGate;
  /** Wraps the store of edge reports; for tests. */
  readonly watchReports?: (store: Reports) => Reports;
  /** Replaces the sync of the database's log; for tests. */
  readonly sync?: SyncLog;
}

/** @throws Error when the database cannot be opened or migrated */
export async function createApp(options: AppOptions): Promise<ControlApp> {
  const { config, logger, clock = systemClock } = options;
  // Before migrating: with the wrong key, nothing in the database may change.
  const secrets = await deploymentSecrets(config);
  const limits = withLimits(controlLimits, options.limits);
  const database = await openDatabase(config.database, clock, { limits: limits.db, sync: options.sync });
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
  const requests = trackRequests(app, clock);
  const metrics = createMetrics(app, services);
  services.tools.measure(metrics.registry);
  services.quotas.measure(metrics.registry);
  services.wrongKeys.measure(metrics.registry);
  services.accessMetrics.measure(metrics.registry);
  measureReplica(services.replica, metrics.registry);
  measureBus(metrics.registry, services.bus);
  const { tools } = services.tools;
  services.leaving.follow(app);
  addOpenApi(app);
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
  const testRuns = createTestRuns(services, logger, metrics.registry);
  if (options.promotionGate) services.promotionGates.register(options.promotionGate);
  else registerGate(services, testRuns);
  const tornado = createTornado(services, testRuns, logger, metrics.registry);
  app.register(async (routes) =>
    addRoutes(routes, services, (scope) => {
      metricsRoute(scope, services, metrics);
      toolRoutes(scope, services, tools);
      edgeToolRoute(scope, services, tools);
      widgetRoutes(scope, services, widgets);
      visitorRoutes(scope, services, widgets);
      portingRoutes(scope, services, porting);
      alertRoutes(scope, services, { senders, sendWebhook: (...event) => sendEvent(posting, ...event) });
      testRunRoutes(scope, services, testRuns);
      tornadoRoutes(scope, services, tornado);
    }),
  );
  await app.ready();
  const sealed = await sealEarlierBodies(database, services.secrets);
  if (sealed > 0) logger.info({ rows: sealed }, 'tools of an earlier version were sealed');
  await preparePorting(services, porting, logger);

  const store = createReportStore(database, clock, services.announcements, config.probeGapMs, services.fleet);
  const reports = options.watchReports?.(store) ?? store;
  const parts = {
    ...services,
    db: database.db,
    reports,
    config: services.edgeConfig,
    log: logger,
    commandTimeoutMs: services.limits.edgeLink.commandTimeoutMs,
    sharedEdges: services.sharedEdges,
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
        replica.whileHeld('lost calls', () => rounds(startLostCalls(services, logger, calls))),
        replica.whileHeld('retention', () => rounds(startRetention(services, logger, metrics.retention))),
        replica.whileHeld('widget sweep', () => rounds(widgets.startSweep())),
        replica.whileHeld('fleet', () => rounds(services.fleet.start())),
      ]),
  });
  return {
    app,
    services,
    begin: () => background.begin(),
    underWay: () => ({
      listening: app.server.listening,
      requests: requests(),
      work: database.workUnderWay(),
    }),
    drain: once(async () => {
      background.hold();
      services.agentTestSockets.close();
      await edgeConnections.close();
      await app.close();
    }),
    leave: once(() => services.leaving.begin(background, edgeConnections)),
    close: once(async () => {
      await background.close();
      services.agentTestSockets.close();
      await edgeConnections.close();
      await widgets.close();
      await tools.close();
      await app.close();
      await services.sharedEdges.close();
      await services.replica.close();
      await services.bus.close();
      await database.close();
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

/** The services that areas are built from; each area's deps.ts picks what it needs. */
export type Services = ReturnType<typeof createServices>;

function createServices(options: AppOptions, database: Database, secrets: SecretBox, clock: Clock, bus: Bus) {
  const { config, webhooks, conversations } = options;
  const limits = withLimits(controlLimits, options.limits);
  const catalogue = new Catalogue(database);
  const edges = new ConnectedEdges();
  const announcements = new Announcements(clock, { bus, hereOnly: new Set([webhookSubject]) });
  linkCatalogue(catalogue, announcements);
  const edgeConfig = followCatalogue(catalogue, database, secrets, config, bus);
  const allowedTargets = parseNetworks(config.allowPrivateTargets);
  const sharedCounts = new SharedCounts(bus.transients);
  const tools = startTools(
    { limits, clock, database, secrets, allowedTargets, sharedCounts },
    {
      log: options.logger,
      sms: config.sms
        ? smsSender(config.sms, clock, limits.alerts.sendTimeoutMs)
        : logSender('sms', options.logger),
      smsTimeoutMs: limits.alerts.sendTimeoutMs,
      runsAtOnce: config.quotas.toolRunsAtOnce,
      ...webhooks,
    },
  );
  const replica = new Replica({
    db: database.apart,
    id: config.instanceId,
    log: options.logger,
    limits: limits.db,
  });
  const models = createModels(config.models, { clock, random: Math.random, limits: limits.models });
  return {
    config,
    limits,
    clock,
    database,
    replica,
    leaving: new Leaving({ clock, replica, db: database.apart, log: options.logger }),
    secrets,
    catalogue,
    edgeConfig,
    bus,
    edges,
    fleet: new Fleet({ bus, clock, database, edges, log: options.logger, learned: learnedState }),
    sharedEdges: new SharedEdges({
      database,
      bus,
      clock,
      edges,
      commandTimeoutMs: limits.edgeLink.commandTimeoutMs,
      log: options.logger,
    }),
    agentTestSockets: new AgentTestSockets({
      bus,
      clock,
      secrets,
      mostFrameBytes: limits.edgeLink.frameBytes,
    }),
    announcements,
    allowedTargets,
    quotas: new Quotas(config.quotas),
    accessMetrics: new AccessMetrics(),
    sharedCounts,
    wrongKeys: new WrongKeys(clock, sharedCounts.as('wrong keys')),
    tools,
    ...createRecordings({ database, clock, secrets, allowedTargets, replica, dataFolder: config.dataFolder }),
    promotionGates: new PromotionGates(),
    models,
    conversations: {
      models: models.agent({ onFailure: 'reject' }),
      webhook: webhookClient({ clock, allowedTargets, ...webhooks }),
      tools: tools.forConversation,
      clock,
      ...conversations,
    },
  };
}

/** Every area of the API; a new area is one more line. */
function addRoutes(app: App, services: Services, addOthers: (app: App) => void): void {
  healthRoute(app, services);
  addOthers(app);
  openApiRoutes(app);
  sipRoutes(app, services);
  sipCallRoutes(app, services);
  checkRoutes(app, services);
  registerRoutes(app, services);
  callRoutes(app, services);
  searchRoutes(app, services);
  recordingRoutes(app, services);
  organizationRoutes(app, services);
  auditRoutes(app, services);
  edgeRoutes(app, services);
  numberRoutes(app, services);
  pathwayRoutes(app, services);
  personaRoutes(app, services);
  chatRoutes(app, services);
  integrationRoutes(app, services);
  scenarioRoutes(app, services);
  analyticsRoutes(app, services);
  analysisRoutes(app, services);
  consoleRoutes(app, process.env);
}
