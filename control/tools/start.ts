/** Builds the tools from the deployment's settings, SMS service and metrics. */
import { Counter, Gauge, type Metric, type Registry } from 'prom-client';
import type { ToolRunner } from '#shared/agent/interfaces.ts';
import type { AgentTool } from '#shared/edge-protocol/agents.ts';
import { SharedPlaces } from '../replicas/index.ts';
import type { ToolDeps } from './deps.ts';
import type { SendSms } from './prepare.ts';
import { type ToolConversation, toolRunner } from './tool-runner.ts';
import { type ToolMetrics, Tools, type ToolsParts } from './tools.ts';

/** Sends SMS for the deployment; `senders.sms` of the alerts is one. */
interface SmsSender {
  readonly reachesPeople: boolean;
  send(
    notice: {
      readonly id: string;
      readonly recipient: string;
      readonly subject: string;
      readonly text: string;
      readonly messageId: string;
      readonly createdAt: number;
    },
    signal: AbortSignal,
  ): Promise<{ readonly outcome: 'sent' | 'refused' | 'unavailable' }>;
}

export function startTools(
  services: Pick<ToolDeps, 'clock' | 'limits' | 'database' | 'secrets' | 'allowedTargets' | 'sharedCounts'>,
  parts: Pick<ToolsParts, 'log' | 'resolve' | 'ca' | 'runsAtOnce'> & {
    readonly sms: SmsSender;
    /** Of one SMS. */
    readonly smsTimeoutMs: number;
  },
): ToolService {
  const { sms, smsTimeoutMs, ...others } = parts;
  const { metrics, counters } = toolMetrics(() => tools.codeWaiting);
  const { clock, limits, database, secrets, allowedTargets, sharedCounts } = services;
  const sendSms: SendSms = async ({ id, to, text }, signal) => {
    const notice = {
      id,
      recipient: to,
      subject: 'SMS of a tool',
      text,
      messageId: id,
      createdAt: clock.now(),
    };
    const limit = AbortSignal.any([signal, AbortSignal.timeout(smsTimeoutMs)]);
    const { outcome } = await sms.send(notice, limit);
    return outcome === 'sent' ? { outcome, reachesPeople: sms.reachesPeople } : { outcome };
  };
  const tools = new Tools({
    ...others,
    db: database.db,
    clock,
    secrets,
    allowedTargets,
    sendSms,
    limits: limits.tools,
    running: new SharedPlaces(sharedCounts.as('tool runs')),
    metrics,
  });
  return {
    tools,
    forConversation: (given, conversation) => toolRunner(tools, given, conversation),
    measure: (registry) => {
      for (const counter of counters) registry.registerMetric(counter);
    },
  };
}

function toolMetrics(codeWaiting: () => number): {
  readonly metrics: ToolMetrics;
  readonly counters: readonly Metric[];
} {
  const runs = new Counter({
    name: 'trunkline_control_tool_runs_total',
    help: 'Runs of tools, by integration: success, failure, or a cached result.',
    labelNames: ['integration', 'outcome'],
    registers: [],
  });
  const killed = new Counter({
    name: 'trunkline_control_tool_code_killed_total',
    help: 'Threads terminated because customers’ code in them did not stop.',
    registers: [],
  });
  const waiting = new Gauge({
    name: 'trunkline_control_tool_code_waiting',
    help: 'Runs of customers’ code, checks and paths that wait for a thread.',
    registers: [],
    collect() {
      this.set(codeWaiting());
    },
  });
  const metrics: ToolMetrics = {
    run: (integration, outcome) => runs.inc({ integration, outcome }),
    codeKilled: () => killed.inc(),
  };
  return { metrics, counters: [runs, killed, waiting] };
}

/** The interface of tools for other areas. */
interface ToolService {
  readonly tools: Tools;
  /** Runs the tools of one conversation in control itself. */
  forConversation(given: readonly AgentTool[], conversation: ToolConversation): ToolRunner;
  /** Adds the tools' metrics to the deployment's. */
  measure(registry: Registry): void;
}
