/** WEBHOOK_TRIGGERED: the conversation called a webhook, often enough and with the expected data. */
import type { RecordedWebhook } from '../ports.ts';
import type { AssertionRule } from './outcome.ts';
import { decided, nodeText } from './outcome.ts';

function urlMatches(url: string, wanted: string): boolean {
  return wanted.endsWith('*') ? url.startsWith(wanted.slice(0, -1)) : url === wanted;
}

/** The value at a dot path, such as `customer.phones.0`. A name with dots is tried first. */
function valueAt(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, path)) return Reflect.get(value, path);
  const dot = path.indexOf('.');
  if (dot < 0 || !Object.hasOwn(value, path.slice(0, dot))) return undefined;
  return valueAt(Reflect.get(value, path.slice(0, dot)), path.slice(dot + 1));
}

/** Deep equality; the order of members does not matter. */
function equal(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equal(Reflect.get(a, name), Reflect.get(b, name)))
  );
}

/** Differences between a body and the expected members, one text each; none: it matches. */
function differences(body: string | null, wanted: Readonly<Record<string, unknown>>): string[] {
  const entries = Object.entries(wanted);
  if (entries.length === 0) return [];
  const parsed = parsedBody(body);
  if (parsed === undefined) return [body === null ? 'there was no body' : 'the body is not JSON'];
  return entries.flatMap(([path, value]) => {
    const found = valueAt(parsed, path);
    if (equal(found, value)) return [];
    const was = found === undefined ? 'is missing' : `was ${shown(found)}`;
    return [`${path} ${was}, not ${shown(value)}`];
  });
}

function parsedBody(body: string | null): unknown {
  try {
    return body === null ? undefined : JSON.parse(body);
  } catch {
    return undefined;
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 200);
}

export const webhookTriggered: AssertionRule<'WEBHOOK_TRIGGERED'> = {
  evaluate: ({ node_id, url, min_calls = 1, body_match }, record) => {
    const there = (call: RecordedWebhook) =>
      (node_id === undefined || call.node_id === node_id) && (url === undefined || urlMatches(call.url, url));
    const wrong = record.webhook_calls
      .filter(there)
      .map((call) => (body_match === undefined ? [] : differences(call.body, body_match)));
    const found = wrong.filter((parts) => parts.length === 0).length;
    const off = wrong.find((parts) => parts.length > 0)?.slice(0, 5);
    const what = [
      node_id === undefined ? null : `from ${nodeText(record, node_id)}`,
      url === undefined ? null : `to ${url}`,
      body_match === undefined ? null : `with ${JSON.stringify(body_match)}`,
    ];
    const expected = [`at least ${min_calls}`, ...what.filter((part) => part !== null)].join(' ');
    const calls = record.webhook_calls.map(({ method, url: called }) => `${method} ${called}`);
    const reasoning = `${found} of ${calls.length} webhook calls match; wanted ${expected}.${off ? ` In one ${off.join('; ')}.` : ''}`;
    return decided(found >= min_calls, Math.min(1, found / min_calls), {
      reasoning,
      target: calls.slice(0, 20).join(', ') || null,
      expected,
    });
  },
  failedNode: ({ node_id }) => node_id ?? null,
};
