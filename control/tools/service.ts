import type { Registry } from 'prom-client';
import type { ToolRunner } from '#shared/agent/interfaces.ts';
import type { AgentTool } from '#shared/edge-protocol/agents.ts';
import type { ToolConversation } from './tool-runner.ts';
import type { Tools } from './tools.ts';

/** The tools as the other areas use them. */
export interface ToolService {
  readonly tools: Tools;
  /** Runs the tools of one conversation that control holds itself. */
  forConversation(given: readonly AgentTool[], conversation: ToolConversation): ToolRunner;
  /** Adds the tools' metrics to those of the deployment. */
  measure(registry: Registry): void;
}
