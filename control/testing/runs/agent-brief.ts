/** What an agent was told to do and to know, as a judge reads it: prompts, texts and edges, and no requests or keys. */
import { isObject } from '#shared/agent/graph-problem.ts';
import type { TextAgent } from '../../conversations/index.ts';

export function agentBrief(agent: TextAgent): string {
  const own =
    agent.kind === 'persona' ? [agent.settings.orchestration_prompt, agent.settings.personality_prompt] : [];
  const nodes = agent.graphs.flatMap((graph) => graph.nodes.map(nodeBrief));
  const edges = agent.graphs.flatMap((graph) => graph.edges.map(edgeBrief));
  return [...own, ...nodes, ...edges].filter((part) => part !== '').join('\n');
}

const told = ['text', 'prompt', 'condition', 'kb', 'globalPrompt'] as const;

function nodeBrief({ data, globalConfig, id }: Record<string, unknown>): string {
  const parts = [data, globalConfig].filter(isObject).flatMap((source) =>
    told.flatMap((name) => {
      const value = source[name];
      return typeof value === 'string' && value !== '' ? [`${name}: ${value}`] : [];
    }),
  );
  if (parts.length === 0) return '';
  const name = isObject(data) && typeof data.name === 'string' ? data.name : '';
  return `[node ${String(id ?? '')} ${name}] ${parts.join(' | ')}`;
}

function edgeBrief({ data, source, target }: Record<string, unknown>): string {
  const label = isObject(data) && typeof data.label === 'string' ? data.label : '';
  return `[edge] ${String(source)} to ${String(target)}: ${label}`;
}
