/**
 * The tools of a Default node (contract 11.1 `tools`), without a model that decides: each tool runs once per visit, as
 * soon as all its required inputs are known. `docs/tools.md` documents this for authors.
 *
 * Inputs come from variables of the same names, or from the node's `toolCalls`. An entry of `toolCalls` defines the
 * inputs of one tool: `{ "tool_id": "TL-…", "inputs": { "order": "{{order_number}}" } }`.
 */
import type { GraphNode } from './graph-node.ts';
import { isObject, type JsonObject } from './graph-problem.ts';
import type { ToolSpec, Variables, VariableWanted } from './interfaces.ts';
import { asText, fillTemplate, lookUp, referenceIn } from './template.ts';

/** A tool named by nodes of a pathway. */
export interface PathwayTool extends ToolSpec {
  /** With or without the prefix `TL-`. */
  readonly toolId: string;
}

/** A tool run that is due. */
export interface DueTool {
  readonly tool: PathwayTool;
  readonly inputs: Variables;
}

/** Types of nodes with tools: a Default node runs them, the model of a Realtime node decides. */
const useTools: ReadonlySet<unknown> = new Set(['Default', 'Realtime']);

/** Ids of the tools named by nodes, as written, without duplicates. */
export function toolIdsIn(nodes: readonly unknown[]): string[] {
  const ids = nodes.flatMap((node) =>
    isObject(node) && useTools.has(node.type) && isObject(node.data) ? namedIn(node.data) : [],
  );
  return [...new Set(ids)];
}

/** Ids in a node's `tools` or `toolCalls` that are not in `known`. */
export function unknownTools(node: GraphNode, known: readonly PathwayTool[]): string[] {
  return toolIdsIn([node]).filter((id) => !toolOf(id, known));
}

/** The tools that a node names and that exist. */
export function namedTools(node: GraphNode, known: readonly PathwayTool[]): PathwayTool[] {
  return [...new Set(namedIn(node.data).flatMap((id) => toolOf(id, known) ?? []))];
}

/** The node's next tool whose inputs are all known. @param used ids of tools already used */
export function dueTool(
  node: GraphNode,
  known: readonly PathwayTool[],
  variables: Variables,
  used: readonly string[],
): DueTool | null {
  for (const tool of toolsOf(node, known)) {
    if (used.includes(tool.toolId)) continue;
    const inputs = inputsOf(node, tool, variables);
    if (required(tool).every((name) => isKnown(inputs[name]))) return { tool, inputs };
  }
  return null;
}

/** Inputs still missing for the node's tools; only plain values can be asked for. */
export function missingInputs(
  node: GraphNode,
  known: readonly PathwayTool[],
  variables: Variables,
): VariableWanted[] {
  const asked = new Set(node.extractVars.map((wanted) => wanted.name));
  return toolsOf(node, known).flatMap((tool) => {
    const inputs = inputsOf(node, tool, variables);
    const mapped = callOf(node, tool)?.inputs;
    return required(tool).flatMap((name): VariableWanted[] => {
      const schema = propertiesOf(tool)[name];
      const type = isObject(schema) ? plainType(schema.type) : null;
      const isMapped = isObject(mapped) && Object.hasOwn(mapped, name);
      if (type === null || isMapped || isKnown(inputs[name]) || asked.has(name)) return [];
      asked.add(name);
      const description = isObject(schema) ? asText(schema.description) : '';
      return [{ name, type, description }];
    });
  });
}

function toolsOf(node: GraphNode, known: readonly PathwayTool[]): PathwayTool[] {
  return node.type === 'Default' ? namedTools(node, known) : [];
}

function namedIn(data: JsonObject): string[] {
  const listed: unknown[] = Array.isArray(data.tools) ? data.tools : [];
  const called: unknown[] = Array.isArray(data.toolCalls) ? data.toolCalls : [];
  const ids = [...called.map((call) => (isObject(call) ? call.tool_id : null)), ...listed];
  return ids.filter((id): id is string => typeof id === 'string' && id !== '');
}

function toolOf(id: string, known: readonly PathwayTool[]): PathwayTool | undefined {
  return known.find((tool) => bare(tool.toolId) === bare(id));
}

function bare(id: string): string {
  return id.replace(/^TL-/, '').toLowerCase();
}

function callOf(node: GraphNode, { toolId }: PathwayTool): JsonObject | undefined {
  const calls: unknown[] = Array.isArray(node.data.toolCalls) ? node.data.toolCalls : [];
  return calls.filter(isObject).find((call) => bare(asText(call.tool_id)) === bare(toolId));
}

function inputsOf(node: GraphNode, tool: PathwayTool, variables: Variables): Variables {
  const mapped = callOf(node, tool)?.inputs;
  const properties = propertiesOf(tool);
  const inputs: [string, unknown][] = [];
  for (const name of new Set([
    ...Object.keys(properties),
    ...(isObject(mapped) ? Object.keys(mapped) : []),
  ])) {
    const isMapped = isObject(mapped) && Object.hasOwn(mapped, name);
    const value = isMapped ? filled(mapped[name], variables) : own(variables, name);
    if (isKnown(value)) inputs.push([name, fitted(value, properties[name])]);
  }
  return Object.fromEntries(inputs);
}

/** A text that consists of a single reference keeps the value's type. */
function filled(value: unknown, variables: Variables): unknown {
  if (Array.isArray(value)) return value.map((part) => filled(part, variables));
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, filled(part, variables)]));
  }
  if (typeof value !== 'string') return value;
  if (/^\{\{\s+\}\}$/.test(value)) return undefined;
  const path = referenceIn(value);
  return path === null ? fillTemplate(value, variables) : lookUp(variables, path);
}

function own(variables: Variables, name: string): unknown {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}

/** An extracted value converted to the schema's type if that is lossless: an order number may be a string. */
function fitted(value: unknown, schema: unknown): unknown {
  const type = isObject(schema) ? schema.type : undefined;
  if (type === 'string' && (typeof value === 'number' || typeof value === 'boolean')) return String(value);
  const isNumeric = (type === 'number' || type === 'integer') && typeof value === 'string';
  return isNumeric && value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
}

function isKnown(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function required({ inputSchema }: PathwayTool): string[] {
  const names: unknown[] = Array.isArray(inputSchema.required) ? inputSchema.required : [];
  return names.filter((name): name is string => typeof name === 'string');
}

function propertiesOf({ inputSchema }: PathwayTool): JsonObject {
  return isObject(inputSchema.properties) ? inputSchema.properties : {};
}

function plainType(type: unknown): VariableWanted['type'] | null {
  return type === 'string' || type === 'integer' || type === 'number' || type === 'boolean' ? type : null;
}
