/** Puts the control plane together: database, API, edge link, background work. Listens to nothing by itself. */
import type { FastifyBaseLogger } from 'fastify';
import { type Clock, systemClock, type Timer } from '#shared/clock.ts';
import { createModels } from '#shared/models/models.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { analysisRoutes } from './agent-testing/analysis/routes.ts';
import { registerGate } from './agent-testing/gate.ts';
import { scenarioRoutes } from './agent-testing/routes.ts';
import { testRunRoutes } from './agent-testing/runs/routes.ts';
import { createTestRuns } from './agent-testing/runs/start.ts';
import { TestCallDoor } from './agent-testing/sip/door.ts';
import { tornadoRoutes } from './agent-testing/tornado/routes.ts';
import { createTornado } from './agent-testing/tornado/start.ts';
import { alertRoutes } from './alerts/routes.ts';
import { logSender } from './alerts/senders.ts';
import { smsSender } from './alerts/sms.ts';
import { alertSenders, startAlerts } from './alerts/start.ts';
import { auditRoutes } from './audit/routes.ts';
import { createBackground } from './background.ts';
import { startLostCalls } from './calls/lost.ts';
import { callRoutes } from './calls/routes.ts';
import { chatRoutes } from './chats/routes.ts';
import type { ControlConfig } from './config.ts';
import type { TextSessionParts } from './conversations/text-parts.ts';
import { webhookClient } from './conversations/webhooks.ts';
import { rounds, together } from './db/background-work.ts';
import { type Database, openDatabase } from './db/open.ts';
import type { SecretBox } from './db/secrets.ts';
import { workUnderWay } from './db/work-report.ts';
import { healthRoute } from './deployment/health.ts';
import { createMetrics, metricsRoute } from './deployment/metrics.ts';
import { addOpenApi, openApiRoutes } from './deployment/openapi.ts';
import { Announcements } from './edges/announcements.ts';
import { ConnectedEdges } from './edges/registry.ts';
import { ReportStore, type Reports } from './edges/reports.ts';
import { EdgeConfigStore } from './edges/store.ts';
import { acceptEdges } from './edges/upgrade.ts';
import type { App } from './http/app-types.ts';
import { createBase } from './http/base.ts';
import { addGuard } from './http/guard.ts';
import { addIdempotency } from './http/idempotency.ts';
import { trackRequests } from './http/under-way.ts';
import { WrongKeys } from './http/wrong-keys.ts';
import { numberRoutes } from './numbers/routes.ts';
import { deploymentSecrets } from './operations/existing-data.ts';
import { Quotas } from './organizations/quota-rules.ts';
import { organizationRoutes } from './organizations/routes.ts';
import { pathwayRoutes } from './pathways/routes.ts';
import { personaRoutes } from './personas/routes.ts';
import { portingParts } from './porting/parts.ts';
import { portingRoutes } from './porting/routes.ts';
import { preparePorting, startPorting } from './porting/start.ts';
import { type PromotionGate, PromotionGates } from './promotion/rules.ts';
import { startRetention } from './retention.ts';
import type { Services } from './services.ts';
import { sipCallRoutes } from './sip/call-routes.ts';
import { checkRoutes } from './sip/check-routes.ts';
import { registerRoutes } from './sip/register-routes.ts';
import { sipRoutes } from './sip/routes.ts';
import { edgeToolRoute } from './tools/edge-route.ts';
import { integrationRoutes } from './tools/integration-routes.ts';
import { toolRoutes } from './tools/routes.ts';
import { sealEarlierBodies } from './tools/sealed-store.ts';
import { startTools } from './tools/start.ts';
import { type DeliveryParts, startWebhookDeliveries } from './webhooks/deliveries.ts';
import { sendEvent } from './webhooks/send.ts';
import { widgetMetrics } from './widgets/metrics.ts';
import { widgetRoutes } from './widgets/routes.ts';
import { createWidgets } from './widgets/start.ts';
import { visitorRoutes } from './widgets/visitor-routes.ts';

export interface ControlApp {
  readonly app: App;
  readonly services: Services;
  /** Begins the background work: once it listens and has said so. A program that only asks the API never does. */
  begin(): Promise<void>;
  /**
   * After a fault: takes nothing more, begins no background work, and finishes the requests that run. Background work
   * stays written down as under way, because it may be what the fault was in: it counts as a try and waits after the
   * next start.
   */
  drain(): Promise<void>;
  /** What goes on, for the report of a fault: requests and background work, nothing of callers. */
  underWay(): Record<string, unknown>;
  /** Ends connections, background work and the database, in this order; asked again it is the same end. */
  close(): Promise<void>;
}

export interface AppOptions {
  readonly config: ControlConfig;
  readonly logger: FastifyBaseLogger;
  readonly clock?: Clock;
  /** Whether answers are checked against their schemas; for tests. */
  readonly checkAnswers?: boolean;
  /** How webhooks reach their targets, and when these and notices are tried again; for tests. */
  readonly webhooks?: Pick<DeliveryParts, 'resolve' | 'ca' | 'random'>;
  /** What takes the place of models and webhooks in text conversations; for tests. */
  readonly conversations?: Partial<TextSessionParts>;
  /** What takes the place of the gate of test scenarios; for tests. */
  readonly promotionGate?: PromotionGate;
  /** Stands between the edges and what stores their reports; for tests. */
  readonly watchReports?: (store: Reports) => Reports;
}

/** @throws Error when the database cannot be opened or brought up to date */
export async function createApp(options: AppOptions): Promise<ControlApp> {
  const { config, logger, clock = systemClock } = options;
  // Before the database is brought up to date: with the wrong key nothing of it may change.
  const secrets = deploymentSecrets(config);
  const database = await openDatabase(config.databaseFile, clock);
  try {
    return await assemble(options, database, secrets, clock);
  } catch (error) {
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
): Promise<ControlApp> {
  const { config, logger, checkAnswers = false } = options;
  const services = createServices(options, database, secrets, clock);
  await services.edgeConfig.publishAll();
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
  const { tools } = services.tools;
  addOpenApi(app);
  addGuard(app, { ...config, db: database.db, clock, wrongKeys: services.wrongKeys });
  addIdempotency(app, services);
  const posting = { ...services, db: database.db, timeoutMs: config.webhookTimeoutMs, ...options.webhooks };
  const senders = alertSenders(config, clock, logger);
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

  const store = new ReportStore(database, clock, config.alerts.probeGapMs);
  const reports = options.watchReports?.(store) ?? store;
  const parts = {
    ...services,
    db: database.db,
    reports,
    config: services.edgeConfig,
    log: logger,
    commandTimeoutMs: config.edgeCommandTimeoutMs,
    onReports: metrics.reports,
  };
  const edgeDoor = acceptEdges(app.server, parts, config.edgeFrameBytes, (...upgrade) =>
    services.testCalls.take(...upgrade),
  );
  const { random } = options.webhooks ?? {};
  const calls = { lost: metrics.lostCalls, queued: metrics.queuedCalls };
  const noticeOthers = async () => {
    await services.edgeConfig.noticeOthers();
    await edgeDoor.endRevoked();
  };
  const background = createBackground({
    tornado,
    testRuns,
    startOthers: () =>
      together([
        startPorting(services, porting, senders.email, logger, random),
        startWebhookDeliveries({ ...posting, log: logger, onAttempt: metrics.webhook }),
        startAlerts(services, senders, logger, metrics.alerts, random),
        rounds(startLostCalls(services, logger, calls)),
        rounds(startRetention(services, logger, metrics.retention)),
        rounds(widgets.startSweep()),
        rounds(watchOthers(clock, logger, noticeOthers)),
      ]),
  });
  return {
    app,
    services,
    begin: () => background.begin(),
    underWay: () => ({
      listening: app.server.listening,
      requests: requests(),
      work: workUnderWay(config.databaseFile),
    }),
    drain: once(async () => {
      background.hold();
      services.testCalls.close();
      await edgeDoor.close();
      await app.close();
    }),
    close: once(async () => {
      await background.close();
      services.testCalls.close();
      await edgeDoor.close();
      await widgets.close();
      await tools.close();
      await app.close();
      await database.close();
    }),
  };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => {
    done ??= work();
    return done;
  };
}

/** Looks twice a second what another process, such as the command line, altered. Returns a function that ends this. */
function watchOthers(clock: Clock, log: FastifyBaseLogger, notice: () => Promise<void>): () => Promise<void> {
  const everyMs = 500;
  let running: Promise<void> = Promise.resolve();
  let timer: Timer;
  const look = () => {
    running = notice()
      .catch((error: unknown) => log.error({ err: error }, 'changes of other processes could not be read'))
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

function createServices(options: AppOptions, database: Database, secrets: SecretBox, clock: Clock): Services {
  const { config, webhooks, conversations } = options;
  const edgeConfig = new EdgeConfigStore(database, secrets, config);
  const allowedTargets = parseNetworks(config.allowPrivateTargets);
  const tools = startTools(
    { config, clock, database, secrets, allowedTargets },
    {
      log: options.logger,
      sms: config.sms
        ? smsSender(config.sms, clock, config.alerts.sendTimeoutMs)
        : logSender('sms', options.logger),
      ...webhooks,
    },
  );
  const models = createModels(config.models, { clock, random: Math.random });
  return {
    config,
    clock,
    database,
    secrets,
    edgeConfig,
    edges: new ConnectedEdges(),
    testCalls: new TestCallDoor(clock, config.edgeFrameBytes),
    announcements: new Announcements(clock),
    allowedTargets,
    quotas: new Quotas(config.quotas),
    wrongKeys: new WrongKeys(clock),
    tools,
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

/** Every area of the API. A new area is one more line. */
function addRoutes(app: App, services: Services, addOthers: (app: App) => void): void {
  healthRoute(app, services);
  addOthers(app);
  openApiRoutes(app);
  sipRoutes(app, services);
  sipCallRoutes(app, services);
  checkRoutes(app, services);
  registerRoutes(app, services);
  callRoutes(app, services);
  organizationRoutes(app, services);
  auditRoutes(app, services);
  numberRoutes(app, services);
  pathwayRoutes(app, services);
  personaRoutes(app, services);
  chatRoutes(app, services);
  integrationRoutes(app, services);
  scenarioRoutes(app, services);
  analysisRoutes(app, services);
}
