/** GET /metrics: the control plane's counters, and what the edges report about themselves (contract 14.2). */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { webhookEvents } from '#shared/api/webhook-events.ts';
import { edgeMetrics } from '#shared/edge-metrics.ts';
import type { Models } from '#shared/models/models.ts';
import { type AlertMetrics, alertKinds } from '../alerts/index.ts';
import type { App } from '../http/index.ts';
import type { DeploymentDeps } from './deps.ts';
import { processMetrics } from './process-metrics.ts';

/** Text exposition format 0.0.4 of Prometheus. */
const seriesForm = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="[^"\\\n{}]*",?)*)\})?$/;
/** Most values shown per edge. */
const mostPerEdge = 500;

export interface Metrics {
  readonly registry: Registry;
  /** Counts one frame of reports from an edge. */
  reports(stored: number, rejected: number): void;
  /** Counts one attempt of a webhook. */
  webhook(type: string, outcome: string): void;
  /** Counts calls closed because their edge was gone. */
  lostCalls(closed: number): void;
  /** Counts calls closed because nothing would place them. */
  queuedCalls(closed: number): void;
  readonly alerts: AlertMetrics;
  readonly retention: RetentionMetrics;
}

export function createMetrics(
  app: App,
  services: Pick<DeploymentDeps, 'database' | 'edges' | 'recordingContents'>,
): Metrics {
  const registry = new Registry();
  const requests = new Histogram({
    name: 'trunkline_control_http_request_seconds',
    help: 'Time from request to answer, by route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  const reports = new Counter({
    name: 'trunkline_control_edge_reports_total',
    help: 'Reports received from edges: stored, and those of them that could not be parsed.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const webhooks = new Counter({
    name: 'trunkline_control_webhook_attempts_total',
    help: 'Attempts to deliver webhooks, by type of event: delivered, to be retried, or given up.',
    labelNames: ['type', 'outcome'],
    registers: [registry],
  });
  // An alert is about the first of them, which Prometheus would not see in a series that begins with it.
  for (const type of Object.keys(webhookEvents)) webhooks.inc({ type, outcome: 'given_up' }, 0);
  const lost = new Counter({
    name: 'trunkline_control_calls_lost_total',
    help: 'Calls that were closed because their edge was gone.',
    registers: [registry],
  });
  const queued = new Counter({
    name: 'trunkline_control_calls_unplaced_total',
    help: 'Calls that were closed because no edge placed them after a restart.',
    registers: [registry],
  });
  new Counter({
    name: 'trunkline_control_storage_failures_total',
    help: 'Database statements and writes of recordings that failed because the disk is full or broken, or the server cannot be reached.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(services.database.storageFailures + services.recordingContents.failures);
    },
  });
  new Gauge({
    name: 'trunkline_control_database_connections',
    help: 'Connections to the PostgreSQL server: in use and idle; and what waits for one. Zero with SQLite.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { open, idle, waiting } = services.database.connections() ?? { open: 0, idle: 0, waiting: 0 };
      this.set({ state: 'used' }, open - idle);
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  new Gauge({
    name: 'trunkline_control_edges_connected',
    help: 'Edges that are connected to this replica.',
    registers: [registry],
    collect() {
      this.set(services.edges.allHere.length);
    },
  });
  app.addHook('onResponse', async (request, reply) => {
    const route = request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
    requests.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
  });
  return {
    registry,
    webhook: (type, outcome) => webhooks.inc({ type, outcome }),
    lostCalls: (closed) => lost.inc(closed),
    queuedCalls: (closed) => queued.inc(closed),
    alerts: alertMetrics(registry),
    retention: retentionMetrics(registry),
    reports: (stored, rejected) => {
      reports.inc({ outcome: 'stored' }, stored);
      if (rejected > 0) reports.inc({ outcome: 'rejected' }, rejected);
    },
  };
}

function alertMetrics(registry: Registry): AlertMetrics {
  const notices = new Counter({
    name: 'trunkline_control_alert_notices_total',
    help: 'Attempts to send alerts by mail and SMS: delivered, to be retried, or given up.',
    labelNames: ['channel', 'outcome'],
    registers: [registry],
  });
  const operator = new Counter({
    name: 'trunkline_control_operator_alerts_total',
    help: 'Attempts to send alerts to the operator: delivered, to be retried, or given up.',
    labelNames: ['channel', 'outcome'],
    registers: [registry],
  });
  const open = new Gauge({
    name: 'trunkline_control_alerts_open',
    help: 'Open alerts after the last evaluation.',
    labelNames: ['kind'],
    registers: [registry],
  });
  const rounds = new Histogram({
    name: 'trunkline_control_alert_evaluation_seconds',
    help: 'Time that one evaluation of all alerts took.',
    buckets: [0.01, 0.1, 0.5, 1, 5, 15, 60],
    registers: [registry],
  });
  return {
    notice: (channel, outcome) => notices.inc({ channel, outcome }),
    operator: (channel, outcome) => operator.inc({ channel, outcome }),
    evaluated: (ms, counts) => {
      rounds.observe(ms / 1000);
      for (const kind of alertKinds) open.set({ kind }, counts.get(kind) ?? 0);
    },
  };
}

export function metricsRoute(app: App, services: DeploymentDeps, metrics: Metrics): void {
  app.route({
    method: 'GET',
    url: '/metrics',
    config: { access: 'operator', openWhenPublicMetrics: true, errors: ['OPERATOR_KEY_REQUIRED'] },
    schema: { summary: 'Metrics in the text format of Prometheus', produces: ['text/plain'] },
    handler: async (_request, reply) => {
      const own = (await Promise.all([processMetrics(), metrics.registry].map((all) => all.metrics()))).join(
        '',
      );
      return reply
        .type(metrics.registry.contentType)
        .send(own + modelMetrics(services.models) + metricsOfEdges(services));
    },
  });
}

/** The latest values of each connected edge, labeled with its name. */
function metricsOfEdges({ edges }: Pick<DeploymentDeps, 'edges'>): string {
  const byName = new Map<string, string[]>();
  for (const edge of edges.allHere) {
    for (const [series, value] of Object.entries(edge.metrics).slice(0, mostPerEdge)) {
      const [, name, labels] = seriesForm.exec(series) ?? [];
      if (name === undefined) continue;
      const lines = byName.get(name) ?? [];
      byName.set(name, lines);
      const edgeLabel = `edge=${JSON.stringify(edge.edgeId)}`;
      lines.push(`${name}{${labels ? `${edgeLabel},${labels}` : edgeLabel}} ${value}`);
    }
  }
  return [...byName].map(([name, lines]) => `${headOf(name)}${lines.join('\n')}\n`).join('');
}

/** An edge of a newer version may have metrics that are not known here. */
function headOf(name: string): string {
  const known = edgeMetrics.get(name);
  if (!known) return `# TYPE ${name} untyped\n`;
  return `# HELP ${name} ${known.help}\n# TYPE ${name} ${known.type}\n`;
}

/** Requests to language models and their tokens, in the text format of Prometheus. */
export function modelMetrics(models: Models): string {
  const byName = new Map<string, string[]>();
  for (const [series, value] of Object.entries(models.metrics('trunkline_control_'))) {
    const [name = ''] = series.split('{', 1);
    byName.set(name, [...(byName.get(name) ?? []), `${series} ${value}`]);
  }
  return [...byName]
    .map(([name, lines]) => {
      const type = name.endsWith('_total') ? 'counter' : 'gauge';
      return `# TYPE ${name} ${type}\n${lines.join('\n')}\n`;
    })
    .join('');
}

/** Metrics of the deletion of old records. */
export interface RetentionMetrics {
  deleted(kind: string, rows: number): void;
  failed(kind: string): void;
}

function retentionMetrics(registry: Registry): RetentionMetrics {
  const deleted = new Counter({
    name: 'trunkline_control_retention_deleted_total',
    help: 'Expired rows deleted, by kind.',
    labelNames: ['kind'],
    registers: [registry],
  });
  const failures = new Counter({
    name: 'trunkline_control_retention_failures_total',
    help: 'Rounds of deletion that failed, by kind.',
    labelNames: ['kind'],
    registers: [registry],
  });
  return {
    deleted: (kind, rows) => deleted.inc({ kind }, rows),
    failed: (kind) => failures.inc({ kind }),
  };
}
