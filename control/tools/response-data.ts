/** Variables that a tool takes from a response, by JSON paths (RFC 9535). */
import { type JsonValue as PathInput, query } from 'jsonpath-rfc9535';
import parsePath from 'jsonpath-rfc9535/parser';
import { lookUp } from '#shared/agent/template.ts';
import type { ResponseData } from '#shared/api/tools.ts';
import { withinTime } from './within-time.ts';

/** `order.items.0.name`: a dotted path as in Webhook nodes, which RFC 9535 writes differently. */
const dotted = /^[^\s.[\]'"*?@,:()]+(?:\.[^\s.[\]'"*?@,:()]+|\[\d+\])*$/;

/** Whether this path is valid. Without a leading `$` it starts at the root. */
export function isResponsePath(text: string): boolean {
  return isRfcPath(fromRoot(text)) || dotted.test(text.trim());
}

/** Whether a path matches one value at most, so that its time depends only on its length. */
export function isSteadyPath(text: string): boolean {
  return isSingular(fromRoot(text));
}

/**
 * The variables that `entries` take from a response; those without a value are left out. A path that can match several
 * values yields a list.
 * @param ms CPU time limit
 * @throws OutOfTime
 */
export function responseVariables(
  entries: readonly ResponseData[],
  response: unknown,
  ms: number,
): Record<string, unknown> {
  const found = withinTime(ms, () =>
    entries.map(({ name, data }): [string, unknown] => [name, valueAt(response, data)]),
  );
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

function valueAt(response: unknown, text: string): unknown {
  const path = fromRoot(text);
  if (!isRfcPath(path)) return lookUp(response, text.trim());
  const values = query(response as PathInput, path);
  return isSingular(path) ? values[0] : values.length === 0 ? undefined : values;
}

function fromRoot(text: string): string {
  const path = text.trim();
  if (path === '') return '$';
  if (path.startsWith('$')) return path;
  return path.startsWith('[') ? `$${path}` : `$.${path}`;
}

function isRfcPath(path: string): boolean {
  try {
    parsePath(path);
    return true;
  } catch {
    return false;
  }
}

/** RFC 9535 section 2.3.5.1: only names and indexes. */
function isSingular(path: string): boolean {
  return !/\*|\.\.|\?|,|:/.test(path.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/g, ''));
}
