/**
 * Values that the caller gave and nothing stored: an assertion expects a variable, or the agent's words contain a
 * placeholder that was never filled.
 */
import { isBuiltIn } from '#shared/agent/built-in-names.ts';
import type { GraphNode } from '#shared/agent/graph-node.ts';
import { isObject } from '#shared/agent/graph-problem.ts';
import type { VariableWanted } from '#shared/agent/interfaces.ts';
import { asText } from '#shared/agent/template.ts';
import { valueIn } from '#shared/models/rule-values.ts';
import { stems } from '#shared/models/words.ts';
import { factsFor, factsIn } from '../../callers/facts.ts';
import { type CallerLine, callerLines, type FailedCase, type TestedGraph, unmetConfigs } from '../case.ts';
import type { Finding } from '../finding.ts';

interface Missing {
  /** The node whose words or request contain the placeholder; null: none does. */
  readonly placeholderOf: GraphNode | null;
  readonly name: string;
  readonly expected: string | null;
  readonly confidence: number;
  readonly why: string;
}

export function missingVariables(failed: FailedCase): Finding[] {
  const { tested } = failed;
  if (!tested) return [];
  return missing(failed, tested).map((one) => findingFor(failed, tested, one));
}

function missing(failed: FailedCase, tested: TestedGraph): Missing[] {
  const found = new Map<string, Missing>();
  for (const { variable_name: name, expected_value, match } of unmetConfigs(failed, 'VARIABLE_EXTRACTED')) {
    if (isAskedElsewhere(failed, tested, name)) continue;
    const expected = expected_value === undefined || match === 'regex' ? null : String(expected_value).trim();
    const value = asText(failed.record.variables[name]).trim();
    const why =
      value === ''
        ? `The variable ${name} was not extracted.`
        : `The variable ${name} is ${JSON.stringify(value)}, which is not what was expected.`;
    const confidence = value === '' ? 0.9 : 0.6;
    found.set(name, { placeholderOf: null, name, expected, confidence, why });
  }
  for (const { name, node } of unfilled(failed, tested)) {
    const does = node.type === 'Webhook' ? 'sends' : 'speaks of';
    const why = `“${node.name}” ${does} {{${name}}}, which nothing had filled.`;
    const expected = sentAs(failed, node, name);
    if (!found.has(name)) found.set(name, { placeholderOf: node, name, expected, confidence: 0.7, why });
  }
  return [...found.values()];
}

/** The nodes that ask for a variable. */
function ownersOf({ graph }: TestedGraph, name: string): GraphNode[] {
  return [...graph.nodes.values()].filter(({ extractVars }) => extractVars.some((one) => one.name === name));
}

/** A node that the conversation did not come to asks for it: the way there is missing, not the variable. */
function isAskedElsewhere({ record }: FailedCase, tested: TestedGraph, name: string): boolean {
  const asking = ownersOf(tested, name);
  const visited = record.nodes_visited ?? [];
  return asking.length > 0 && asking.every(({ id }) => !visited.includes(id));
}

/** Placeholders spoken or sent empty, although neither the graph nor the scenario nor the program fills them. */
function unfilled(failed: FailedCase, { graph }: TestedGraph) {
  const { record, scenario } = failed;
  const known = new Set([...Object.keys(record.variables), ...Object.keys(scenario.request_data ?? {})]);
  const nodes = [...graph.nodes.values()];
  for (const { data, extractVars } of nodes) {
    for (const { name } of extractVars) known.add(name);
    for (const name of answered(data.responseData)) known.add(name);
  }
  // A webhook's response may fill any variable, but its request needs them beforehand.
  const webhooks = nodes.filter(({ type }) => type === 'Webhook');
  const sends = unmetConfigs(failed, 'WEBHOOK_TRIGGERED').length > 0 && webhooks.length === 1;
  return [...new Set(record.nodes_visited ?? [])].flatMap((id) => {
    const node = graph.nodes.get(id);
    if (!node || (webhooks.length > 0 && !(sends && node.type === 'Webhook'))) return [];
    const { url, headers, body } = node.data;
    const words =
      node.type === 'Webhook' ? JSON.stringify([url, headers, body]) : `${node.text} ${node.prompt}`;
    const names = [...words.matchAll(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g)];
    return names.flatMap(([, name = '']) => (known.has(name) || isBuiltIn(name) ? [] : [{ name, node }]));
  });
}

/** The value that an assertion expects in the body member with the placeholder; null: none does. */
function sentAs(failed: FailedCase, { data }: GraphNode, name: string): string | null {
  const body = asText(data.body);
  for (const { body_match = {} } of unmetConfigs(failed, 'WEBHOOK_TRIGGERED')) {
    for (const [path, value] of Object.entries(body_match)) {
      const member = JSON.stringify(path.slice(path.lastIndexOf('.') + 1));
      const [, placeholder] = body.split(member)[1]?.match(/^\s*:\s*"?\{\{\s*([A-Za-z_]\w*)\s*\}\}/) ?? [];
      if (placeholder === name && typeof value !== 'object') return String(value);
    }
  }
  return null;
}

/** Names filled by the response of a webhook. */
function answered(responseData: unknown): string[] {
  if (!Array.isArray(responseData)) return [];
  return responseData.flatMap((entry: unknown) =>
    isObject(entry) && typeof entry.name === 'string' ? [entry.name] : [],
  );
}

function findingFor(failed: FailedCase, tested: TestedGraph, one: Missing): Finding {
  const { name, confidence, why } = one;
  if (isBuiltIn(name)) {
    return {
      cause: 'data',
      type: 'node_config',
      nodeId: ownersOf(tested, name)[0]?.id ?? null,
      description: `${why} It is a built-in variable, which no node can fill.`,
      suggestedChange: `Extract the value under another name than ${name}, and expect that one.`,
      confidence,
      edit: null,
    };
  }
  const other = keptAs(failed, one);
  if (other) return other;
  const found = answerFor(failed, tested, one);
  if (!found) {
    return {
      cause: 'data',
      type: 'node_config',
      nodeId: null,
      description: `${why} Nothing that the caller said could be its value.`,
      suggestedChange: `Have a node ask for ${name}, and add it to the node's extractVars.`,
      confidence: 0.3,
      edit: null,
    };
  }
  const { node, line } = found;
  const variable = wanted(one, node, line);
  return {
    cause: 'data',
    type: 'node_config',
    nodeId: node.id,
    description: `${why} In “${node.name}” the caller said ${JSON.stringify(line.words)}.`,
    suggestedChange: `Add ${JSON.stringify([variable.name, variable.type, variable.description])} to extractVars of “${node.name}”.`,
    confidence,
    edit: { kind: 'set_variable', node: node.id, variable },
  };
}

/** The value exists under another name: the body uses the wrong one. */
function keptAs({ record }: FailedCase, { confidence, expected, name, placeholderOf, why }: Missing) {
  if (placeholderOf?.type !== 'Webhook' || expected === null) return null;
  const names = Object.keys(record.variables).filter((one) => asText(record.variables[one]) === expected);
  const [to] = names;
  if (to === undefined || names.length > 1) return null;
  const { id, name: nodeName } = placeholderOf;
  const finding: Finding = {
    cause: 'data',
    type: 'node_config',
    nodeId: id,
    description: `${why} ${JSON.stringify(expected)} is known as {{${to}}}.`,
    suggestedChange: `Write {{${to}}} instead of {{${name}}} in the body of “${nodeName}”.`,
    confidence,
    edit: { kind: 'set_placeholder', node: id, from: name, to },
  };
  return finding;
}

/** The caller's line with the value: the expected one, else the answer to its question. */
function answerFor(
  failed: FailedCase,
  tested: TestedGraph,
  { name, expected }: Missing,
): { readonly node: GraphNode; readonly line: CallerLine } | null {
  const owners = ownersOf(tested, name);
  const lines = callerLines(failed).filter(
    ({ nodeId }) => owners.length === 0 || owners.some(({ id }) => id === nodeId),
  );
  const fact = factsIn('', { [name]: 'x' });
  const holds = (line: CallerLine) => expected !== null && typeOf(name, expected, line.words) !== null;
  const asked = ({ asked: question }: CallerLine) => factsFor(question, fact).length > 0;
  const line = lines.find((one) => holds(one) && asked(one)) ?? lines.find(holds) ?? lines.find(asked);
  const node = line && tested.graph.nodes.get(line.nodeId);
  return node ? { node, line } : null;
}

const types = ['date', 'integer', 'number', 'boolean', 'string'] as const;

/** The type that extracts a value from a line; null: none. */
function typeOf(name: string, expected: string, words: string): VariableWanted['type'] | null {
  const found = types.find((type) => {
    const value = valueIn(words, { name, type, description: '' }, true);
    return value !== undefined && (String(value) === expected || Number(value) === Number(expected));
  });
  return found ?? (words.includes(expected) ? 'string' : null);
}

function wanted({ name, expected }: Missing, node: GraphNode, line: CallerLine): VariableWanted {
  const type =
    (expected === null ? null : typeOf(name, expected, line.words)) ?? typeByName(name, line.words);
  const before = node.extractVars.find((variable) => variable.name === name);
  const description = before?.description || `${name.replaceAll('_', ' ')}, as the caller says it`;
  return { name, type, description };
}

/** By the name, if the line contains such a value; else text. */
function typeByName(name: string, words: string): VariableWanted['type'] {
  const parts = stems(name.replaceAll('_', ' '));
  const candidates: VariableWanted['type'][] = [
    ...(['date', 'day', 'birthday'].some((word) => parts.includes(word)) ? (['date'] as const) : []),
    ...(['count', 'number', 'guest', 'people', 'age', 'quantity', 'amount'].some((word) =>
      parts.includes(word),
    )
      ? (['integer', 'number'] as const)
      : []),
  ];
  const fits = candidates.find((type) => valueIn(words, { name, type, description: '' }, true) !== undefined);
  // An account number is a text: leading zeros count, and it is not used for arithmetic.
  return fits === 'integer' && parts.length > 1 && parts.includes('number') ? 'string' : (fits ?? 'string');
}
