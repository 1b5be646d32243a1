/**
 * The agent of a text conversation: plain data with everything it needs, so that a stored conversation continues
 * unchanged whatever happens to its pathway or persona.
 */

import type { LoadedPathway } from '#shared/agent/conversation-options.ts';
import { type Graph, loadGraph } from '#shared/agent/graph.ts';
import type { PathwayTool } from '#shared/agent/node-tools.ts';
import type { AgentSettings, AgentTool } from '#shared/edge-protocol/agents.ts';

type OpenObject = Record<string, unknown>;

export interface TextGraph {
  readonly pathwayId: string;
  /** 0 is the live graph */
  readonly version: number;
  readonly nodes: readonly OpenObject[];
  readonly edges: readonly OpenObject[];
  /** The existing tools among those its nodes reference. */
  readonly tools: readonly AgentTool[];
}

export interface PathwayTextAgent {
  readonly kind: 'pathway';
  readonly orgId: string;
  readonly pathwayId: string;
  readonly version: number;
  /** null: the graph's start node */
  readonly startNodeId: string | null;
  /** Replaces the first node's words. */
  readonly firstSentence: string | null;
  /** The pathway's own graph, and those reached by its Transfer Pathway nodes. */
  readonly graphs: readonly TextGraph[];
}

export interface PersonaTextAgent {
  readonly kind: 'persona';
  readonly orgId: string;
  readonly settings: Extract<AgentSettings, { kind: 'persona' }>;
  /** Those reached by its conditions, transitively. */
  readonly graphs: readonly TextGraph[];
}

export type TextAgent = PathwayTextAgent | PersonaTextAgent;

/** A tool as agents see it. */
function pathwayTool({ tool_id, name, description, input_schema, speech }: AgentTool): PathwayTool {
  const inputSchema = input_schema ?? { type: 'object', properties: {} };
  return { toolId: tool_id, name, description, inputSchema, speech };
}

/** The tool of a pathway's node, by its id. */
export function nodeTool(agent: TextAgent, toolId: string): AgentTool | undefined {
  return agent.graphs.flatMap((graph) => graph.tools).find((tool) => tool.tool_id === toolId);
}

/** Finds the graphs of an agent; each is read once. */
export function pathwaysOf(agent: TextAgent): (id: string, version: number) => LoadedPathway | undefined {
  const loaded = new Map<TextGraph, Graph>();
  return (id, version) => {
    const found = agent.graphs.find((graph) => graph.pathwayId === id && graph.version === version);
    if (!found) return undefined;
    let graph = loaded.get(found);
    if (!graph) {
      graph = loadGraph(found.nodes, found.edges);
      loaded.set(found, graph);
    }
    return { pathwayId: id, graph, tools: found.tools.map(pathwayTool) };
  };
}
