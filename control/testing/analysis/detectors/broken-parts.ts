/** Failures besides words and paths, which need manual action: webhooks, tools, conditions, loops. */
import { type FailedCase, nodeName, unmetAssertions } from '../case.ts';
import type { Finding } from '../finding.ts';

interface Sign {
  readonly pattern: RegExp;
  readonly finding: (node: string, match: RegExpExecArray) => Omit<Finding, 'nodeId' | 'edit'>;
}

/** Log lines of the interpreter (shared/agent/interpreter.ts). */
const signs: readonly Sign[] = [
  {
    pattern: /^the webhook answered (?!2\d\d$)(.*)$/,
    finding: (node, [, answer = '']) => ({
      cause: 'data',
      type: 'node_config',
      description: `The webhook of ${node} answered: ${answer}.`,
      suggestedChange: `Check url, headers and body of ${node}, or declare a mock of its answer in the scenario.`,
      confidence: 0.6,
    }),
  },
  {
    pattern: /^the tool failed: (.*)$/,
    finding: (node, [, why = '']) => ({
      cause: 'data',
      type: 'node_config',
      description: `A tool of ${node} failed: ${why}.`,
      suggestedChange: 'Try the tool with POST /v2/tools/test, or declare a mock of it in the scenario.',
      confidence: 0.6,
    }),
  },
  {
    pattern: /^the tool (\S+) is not available$/,
    finding: (node, [, id = '']) => ({
      cause: 'data',
      type: 'node_config',
      description: `${node} uses the unknown tool ${id}.`,
      suggestedChange: `Name a tool that exists in ${node}.`,
      confidence: 0.7,
    }),
  },
  {
    pattern: /^pathway (\S+) version (\S+) is not available$/,
    finding: (node, [, id = '', version = '']) => ({
      cause: 'data',
      type: 'node_config',
      description: `${node} continues in pathway ${id} version ${version}, which does not exist.`,
      suggestedChange: `Name a pathway and version that exist in ${node}.`,
      confidence: 0.85,
    }),
  },
  {
    pattern: /^the condition "(.*)" does not hold: (.*?); "/,
    finding: (node, [, condition = '', why = '']) => ({
      cause: 'flow',
      type: 'node_config',
      description: `The condition ${JSON.stringify(condition)} kept the caller in ${node}: ${why}.`,
      suggestedChange: `Loosen the condition of ${node}, or have it ask for what is missing.`,
      confidence: 0.55,
    }),
  },
  {
    pattern: /the graph has a loop$/,
    finding: (node) => ({
      cause: 'flow',
      type: 'flow_change',
      description: `The pathway looped at ${node} without waiting for the caller.`,
      suggestedChange: `Have a node of the circle through ${node} wait for the caller.`,
      confidence: 0.8,
    }),
  },
  {
    pattern: /^(?:there is no edge to follow(?: after the webhook)?|.*, no answer after \d+ repeats?)$/,
    finding: (node, [line = '']) => ({
      cause: 'flow',
      type: 'flow_change',
      description: `The conversation came to a dead end in ${node}: ${line}.`,
      suggestedChange: `Give ${node} an edge for everything else, labelled "default".`,
      confidence: 0.45,
    }),
  },
];

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
  return failed.record.log.flatMap(({ node_id, message }) =>
    signs.flatMap(({ pattern, finding }) => {
      const match = pattern.exec(message);
      if (!match) return [];
      const node = node_id === null ? 'the pathway' : `“${nodeName(failed, node_id)}”`;
      return [{ ...finding(node, match), nodeId: node_id, edit: null }];
    }),
  );
}
