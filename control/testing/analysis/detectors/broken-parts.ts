/** Failures besides words and paths, which need manual action: webhooks, tools, conditions, loops. */
import type { LogFact } from '#shared/agent/log-facts.ts';
import { counted } from '#shared/counted.ts';
import { type FailedCase, nodeName, unmetAssertions } from '../case.ts';
import type { Finding } from '../finding.ts';

type Sign = Omit<Finding, 'nodeId' | 'edit'>;

/** Null: nothing is broken. @param node as named in a sentence */
function signOf(fact: LogFact, node: string): Sign | null {
  switch (fact.kind) {
    case 'webhook_answered':
      if (fact.ok) return null;
      return {
        cause: 'data',
        type: 'node_config',
        description: `The webhook of ${node} answered: ${fact.answer}.`,
        suggestedChange: `Check url, headers and body of ${node}, or declare a mock of its answer in the scenario.`,
        confidence: 0.6,
      };
    case 'tool_failed':
      return {
        cause: 'data',
        type: 'node_config',
        description: `A tool of ${node} failed: ${fact.error ?? 'no reason given'}.`,
        suggestedChange: 'Try the tool with POST /v2/tools/test, or declare a mock of it in the scenario.',
        confidence: 0.6,
      };
    case 'tool_unknown':
      return {
        cause: 'data',
        type: 'node_config',
        description: `${node} uses the unknown tool ${fact.tool_id}.`,
        suggestedChange: `Name a tool that exists in ${node}.`,
        confidence: 0.7,
      };
    case 'pathway_unavailable':
      return {
        cause: 'data',
        type: 'node_config',
        description: `${node} continues in pathway ${fact.pathway_id} version ${fact.version}, which does not exist.`,
        suggestedChange: `Name a pathway and version that exist in ${node}.`,
        confidence: 0.85,
      };
    case 'node_repeated':
      if (fact.why.kind !== 'condition') return null;
      return {
        cause: 'flow',
        type: 'node_config',
        description: `The condition ${JSON.stringify(fact.why.condition)} kept the caller in ${node}: ${fact.why.reason}.`,
        suggestedChange: `Loosen the condition of ${node}, or have it ask for what is missing.`,
        confidence: 0.55,
      };
    case 'graph_loop':
      return {
        cause: 'flow',
        type: 'flow_change',
        description: `The pathway looped at ${node} without waiting for the caller.`,
        suggestedChange: `Have a node of the circle through ${node} wait for the caller.`,
        confidence: 0.8,
      };
    case 'dead_end':
      return deadEnd(
        node,
        `there is no edge to follow${fact.after === 'webhook' ? ' after the webhook' : ''}`,
      );
    case 'repeats_unanswered':
      return deadEnd(node, `no answer after ${counted(fact.repeats, 'repeat')}`);
    default:
      return null;
  }
}

function deadEnd(node: string, why: string): Sign {
  return {
    cause: 'flow',
    type: 'flow_change',
    description: `The conversation came to a dead end in ${node}: ${why}.`,
    suggestedChange: `Give ${node} an edge for everything else, labelled "default".`,
    confidence: 0.45,
  };
}

export function brokenParts(failed: FailedCase): Finding[] {
  return [...signsIn(failed), ...wrongRequests(failed)];
}

/** Webhooks called with other data than an assertion expects. */
function wrongRequests(failed: FailedCase): Finding[] {
  return unmetAssertions(failed).flatMap(({ result, assertion: { type, name, config } }) => {
    const calls = failed.record.webhook_calls;
    const call = calls.find(({ node_id }) => config.node_id === undefined || node_id === config.node_id);
    if (type !== 'WEBHOOK_TRIGGERED' || !call) return [];
    return [
      {
        cause: 'data',
        type: 'node_config',
        nodeId: call.node_id,
        description: `${name ?? type}: ${result.reasoning}`,
        suggestedChange: `Check url and body of “${nodeName(failed, call.node_id)}”, and the variables that they name.`,
        confidence: 0.5,
        edit: null,
      },
    ];
  });
}

function signsIn(failed: FailedCase): Finding[] {
  return failed.facts.flatMap(({ node_id, fact }) => {
    const node = node_id === null ? 'the pathway' : `“${nodeName(failed, node_id)}”`;
    const sign = signOf(fact, node);
    return sign ? [{ ...sign, nodeId: node_id, edit: null }] : [];
  });
}
