/** WEBHOOK_TRIGGERED: the conversation called a webhook, often enough and with what it should. */
import type { RecordedWebhook } from '../ports.ts';
import type { AssertionRule } from './outcome.ts';
import { decided, nodeText } from './outcome.ts';

function urlMatches(url: string, wanted: string): boolean {
  return wanted.endsWith('*') ? url.startsWith(wanted.slice(0, -1)) : url === wanted;
}

/** The value at a dot path, such as `customer.phones.0`. A name that holds dots itself is tried first. */
function valueAt(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, path)) return Reflect.get(value, path);
  const dot = path.indexOf('.');
  if (dot < 0 || !Object.hasOwn(value, path.slice(0, dot))) return undefined;
  return valueAt(Reflect.get(value, path.slice(0, dot)), path.slice(dot + 1));
}

/** Equal in depth; the order of members does not count. */
function equal(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equal(Reflect.get(a, name), Reflect.get(b, name)))
  );
}

function bodyMatches(body: string | null, wanted: Readonly<Record<string, unknown>>): boolean {
  if (body === null) return Object.keys(wanted).length === 0;
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return Object.keys(wanted).length === 0;
  }
  return Object.entries(wanted).every(([path, value]) => equal(valueAt(parsed, path), value));
}

export const webhookTriggered: AssertionRule<'WEBHOOK_TRIGGERED'> = {
  evaluate: ({ node_id, url, min_calls = 1, body_match }, record) => {
    const fits = (call: RecordedWebhook) =>
      (node_id === undefined || call.node_id === node_id) &&
      (url === undefined || urlMatches(call.url, url)) &&
      (body_match === undefined || bodyMatches(call.body, body_match));
    const found = record.webhook_calls.filter(fits).length;
    const what = [
      node_id === undefined ? null : `from ${nodeText(record, node_id)}`,
      url === undefined ? null : `to ${url}`,
      body_match === undefined ? null : `with ${JSON.stringify(body_match)}`,
    ];
    const expected = [`at least ${min_calls}`, ...what.filter((part) => part !== null)].join(' ');
    const calls = record.webhook_calls.map(({ method, url: called }) => `${method} ${called}`);
    const reasoning = `${found} of ${calls.length} webhook calls match; wanted ${expected}.`;
    return decided(found >= min_calls, Math.min(1, found / min_calls), {
      reasoning,
      target: calls.slice(0, 20).join(', ') || null,
      expected,
    });
  },
  failedNode: ({ node_id }) => node_id ?? null,
};
