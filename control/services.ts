/** What the areas of the control plane are built from. */
import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '#shared/clock.ts';
import { withLimits } from '#shared/limits.ts';
import { createModels } from '#shared/models/models.ts';
import { tracedModels } from '#shared/models/traced-models.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import type { Tracing } from '#shared/tracing/tracing.ts';
import { logSender, smsSender } from './alerts/index.ts';
import { Catalogue } from './catalogue/index.ts';
import { linkCatalogue } from './catalogue-links.ts';
import { type TextSessionParts, webhookClient } from './conversations/index.ts';
import { type Database, Replica, type SecretBox, type SyncLog } from './db/index.ts';
import { followCatalogue } from './edge-config/index.ts';
import { Announcements, ConnectedEdges, type Reports, SharedEdges } from './edge-link/index.ts';
import { eventSubject, Followers } from './events/index.ts';
import { Fleet } from './fleet/index.ts';
import { WrongKeys } from './http/index.ts';
import { Leaving } from './leaving.ts';
import { type ControlLimits, controlLimits } from './limits.ts';
import { AccessMetrics, Quotas } from './organizations/index.ts';
import { type PromotionGate, PromotionGates } from './promotion/index.ts';
import { createRecordings } from './recordings/index.ts';
import { type Bus, SharedCounts } from './replicas/index.ts';
import type { ControlConfig } from './settings/index.ts';
import { AgentTestSockets } from './testing/index.ts';
import { startTools } from './tools/index.ts';
import { learnedState } from './trunks/index.ts';
import { type DeliveryParts, webhookSubject } from './webhooks/index.ts';

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
  /** null or absent: no traces. */
  readonly tracing?: Tracing | null;
  /** Replaces the sync of the database's log; for tests. */
  readonly sync?: SyncLog;
}

/** The services that areas are built from; each area's deps.ts picks what it needs. */
export type Services = ReturnType<typeof createServices>;

export function createServices(
  options: AppOptions,
  database: Database,
  secrets: SecretBox,
  clock: Clock,
  bus: Bus,
) {
  const { config, webhooks, conversations } = options;
  const limits = withLimits(controlLimits, options.limits);
  const catalogue = new Catalogue(database);
  const edges = new ConnectedEdges();
  const announcements = new Announcements(clock, { bus, hereOnly: new Set([webhookSubject, eventSubject]) });
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
  const untraced = createModels(config.models, { clock, random: Math.random, limits: limits.models });
  const models = options.tracing ? tracedModels(untraced, options.tracing) : untraced;
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
    followers: new Followers(database, bus.transients),
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
