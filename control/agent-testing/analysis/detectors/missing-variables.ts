/**
 * Values that the caller gave and nobody kept: an assertion waits for a variable, or the agent's words hold a
 * placeholder that was never filled.
 */
import { isBuiltIn } from '#shared/agent/built-in-variables.ts';
import type { GraphNode } from '#shared/agent/graph-node.ts';
import type { VariableWanted } from '#shared/agent/interfaces.ts';
import { asText } from '#shared/agent/template.ts';
import { valueIn } from '#shared/models/rule-values.ts';
import { stems } from '#shared/models/words.ts';
import { factsFor, factsIn } from '../../caller/facts.ts';
import { type CallerLine, callerLines, type FailedCase, type TestedGraph, unmetConfigs } from '../case.ts';
import type { Finding } from '../finding.ts';

interface Missing {
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
    const expected = expected_value === undefined || match === 'regex' ? null : String(expected_value).trim();
    const value = asText(failed.record.variables[name]).trim();
    const why =
      value === ''
        ? `The variable ${name} was not extracted.`
        : `The variable ${name} is ${JSON.stringify(value)}, which is not what was expected.`;
    found.set(name, { name, expected, confidence: value === '' ? 0.9 : 0.6, why });
  }
  for (const { name, node } of unfilled(failed, tested)) {
    const why = `“${node.name}” speaks of {{${name}}}, which nothing had filled.`;
    if (!found.has(name)) found.set(name, { name, expected: null, confidence: 0.7, why });
  }
  return [...found.values()];
}

/** Placeholders that were spoken empty, though neither the graph nor the scenario nor the program fills them. */
function unfilled({ record, scenario }: FailedCase, { graph }: TestedGraph) {
  const known = new Set([...Object.keys(record.variables), ...Object.keys(scenario.request_data ?? {})]);
  for (const { extractVars, type } of graph.nodes.values()) {
    for (const { name } of extractVars) known.add(name);
    // What a webhook answers may fill anything.
    if (type === 'Webhook') return [];
  }
  return [...new Set(record.nodes_visited ?? [])].flatMap((id) => {
    const node = graph.nodes.get(id);
    if (!node) return [];
    const names = [...`${node.text} ${node.prompt}`.matchAll(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g)];
    return names.flatMap(([, name = '']) => (known.has(name) || isBuiltIn(name) ? [] : [{ name, node }]));
  });
}

function findingFor(failed: FailedCase, tested: TestedGraph, one: Missing): Finding {
  const { name, confidence, why } = one;
  const told = answerFor(failed, tested, one);
  if (!told) {
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
  const { node, line } = told;
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

/** The line of the caller that holds the value: the expected one, else the answer to the question for it. */
function answerFor(
  failed: FailedCase,
  { graph }: TestedGraph,
  { name, expected }: Missing,
): { readonly node: GraphNode; readonly line: CallerLine } | null {
  const lines = callerLines(failed);
  const fact = factsIn('', { [name]: 'x' });
  const holds = (line: CallerLine) => expected !== null && typeOf(name, expected, line.words) !== null;
  const asked = ({ asked: question }: CallerLine) => factsFor(question, fact).length > 0;
  const line = lines.find((one) => holds(one) && asked(one)) ?? lines.find(holds) ?? lines.find(asked);
  const node = line && graph.nodes.get(line.nodeId);
  return node ? { node, line } : null;
}

const types = ['date', 'integer', 'number', 'boolean', 'string'] as const;

/** The type by which a value is read from a line; null: by none. */
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

/** What the name says, if the line holds such a value; else text. */
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
  // An account number is a text: leading zeros count, and nobody adds it up.
  return fits === 'integer' && parts.length > 1 && parts.includes('number') ? 'string' : (fits ?? 'string');
}
