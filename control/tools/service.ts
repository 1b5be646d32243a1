import type { Registry } from 'prom-client';
import type { ToolRunner } from '#shared/agent/interfaces.ts';
import type { AgentTool } from '#shared/edge-protocol/agents.ts';
import type { ToolConversation } from './tool-runner.ts';
import type { Tools } from './tools.ts';

/** The interface of tools for other areas. */
export interface ToolService {
  readonly tools: Tools;
  /** Runs the tools of one conversation in control itself. */
  forConversation(given: readonly AgentTool[], conversation: ToolConversation): ToolRunner;
  /** Adds the tools' metrics to the deployment's. */
  measure(registry: Registry): void;
}
