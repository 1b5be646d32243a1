/** The Webhook node: its request, and the handling of the response (contract 11.1). */
import type { WebhookRequest } from './conversation.ts';
import type { GraphNode } from './graph-node.ts';
import { isObject } from './graph-problem.ts';
import type { Variables } from './interfaces.ts';
import { asText, fillJsonTemplate, fillTemplate, lookUp } from './template.ts';

/** The request of a Webhook node with its templates filled in. */
export function webhookRequest(node: GraphNode, variables: Variables): WebhookRequest {
  const { url, method, headers, body, timeoutValue } = node.data;
  const verb = typeof method === 'string' && method !== '' ? method.toUpperCase() : 'POST';
  const filled: Record<string, string> = {};
  for (const [name, value] of headerEntries(headers))
    filled[name.toLowerCase()] = fillTemplate(value, variables);
  const content = verb === 'GET' || verb === 'HEAD' ? null : bodyText(body, variables);
  if (content !== null) filled['content-type'] ??= 'application/json';
  const seconds = typeof timeoutValue === 'number' ? Math.min(60, Math.max(1, timeoutValue)) : 10;
  return {
    method: verb,
    url: fillTemplate(asText(url), mapText(variables, encodeURIComponent)),
    headers: filled,
    body: content,
    timeoutMs: seconds * 1000,
  };
}

/** Silence before a filler is said, ms, where the author sets none. */
const usualFillerWaitMs = 1500;

/** What is said while the answer of a Webhook node is awaited; no text: nothing. */
export function fillerOf({ data }: GraphNode, variables: Variables): { text: string; afterMs: number } {
  const { text, afterMs } = isObject(data.filler) ? data.filler : {};
  return {
    text: fillTemplate(asText(text), variables).trim(),
    afterMs: typeof afterMs === 'number' ? afterMs : usualFillerWaitMs,
  };
}

/** `headers` is an object, or a list of `[name, value]` or `{ key, value }`. */
function headerEntries(headers: unknown): [string, string][] {
  if (isObject(headers)) return Object.entries(headers).map(([name, value]) => [name, asText(value)]);
  if (!Array.isArray(headers)) return [];
  return headers.flatMap((entry: unknown): [string, string][] => {
    if (Array.isArray(entry) && typeof entry[0] === 'string') return [[entry[0], asText(entry[1])]];
    if (isObject(entry) && typeof entry.key === 'string') return [[entry.key, asText(entry.value)]];
    return [];
  });
}

function bodyText(body: unknown, variables: Variables): string | null {
  if (body === undefined || body === null || body === '') return null;
  return fillJsonTemplate(typeof body === 'string' ? body : JSON.stringify(body), variables);
}

/** Escapes values for a URL: they must not add path segments or parameters. */
function mapText(value: Variables, change: (text: string) => string): Variables {
  const mapped = (item: unknown): unknown => {
    if (typeof item === 'string') return change(item);
    if (Array.isArray(item)) return item.map(mapped);
    return isObject(item) ? mapText(item, change) : item;
  };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapped(item)]));
}

/** Variables that `responseData` extracts from a response; entries without a value are left out. */
export function responseVariables(node: GraphNode, body: unknown): Variables {
  const entries = node.data.responseData;
  const values: Variables = {};
  if (!Array.isArray(entries)) return values;
  for (const entry of entries as unknown[]) {
    if (!isObject(entry) || typeof entry.name !== 'string' || typeof entry.data !== 'string') continue;
    const value = lookUp(body, entry.data);
    if (value !== undefined) values[entry.name] = value;
  }
  return values;
}

/** Target node of the first entry of `responsePathways` that holds, or null. */
export function responsePathway(node: GraphNode, variables: Variables, body: unknown): string | null {
  const entries = node.data.responsePathways;
  if (!Array.isArray(entries)) return null;
  for (const entry of entries as unknown[]) {
    if (!Array.isArray(entry)) continue;
    const [key, operator, value, target] = entry as unknown[];
    if (typeof key !== 'string' || !isObject(target) || typeof target.id !== 'string') continue;
    if (isCompletion(key)) return target.id;
    const actual = lookUp(variables, key) ?? lookUp(body, key);
    if (compare(actual, asText(operator), value)) return target.id;
  }
  return null;
}

function isCompletion(key: string): boolean {
  return /^(?:default|default\/webhook completion|webhook completion)$/i.test(key.trim());
}

/** Compares numerically when both sides are numbers, else as text. An unknown operator never holds. */
export function compare(actual: unknown, operator: string, expected: unknown): boolean {
  const left = asText(actual).trim();
  const right = asText(expected).trim();
  const numeric = left !== '' && right !== '' && !Number.isNaN(Number(left)) && !Number.isNaN(Number(right));
  const order = numeric ? Number(left) - Number(right) : left < right ? -1 : left > right ? 1 : 0;
  switch (operator.trim().toLowerCase()) {
    case '==':
    case '=':
    case '===':
    case 'is':
    case 'equals':
      return order === 0;
    case '!=':
    case '!==':
    case 'is not':
    case 'not equals':
      return order !== 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case 'contains':
      return left.includes(right);
    case '!contains':
    case 'not contains':
    case 'does not contain':
      return !left.includes(right);
    default:
      return false;
  }
}
