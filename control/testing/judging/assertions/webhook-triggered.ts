/** WEBHOOK_TRIGGERED: the conversation called a webhook, often enough and with the expected data. */
import type { RecordedWebhook } from '../ports.ts';
import { differences } from './json-members.ts';
import type { AssertionRule } from './outcome.ts';
import { decided, nodeText } from './outcome.ts';

function urlMatches(url: string, wanted: string): boolean {
  return wanted.endsWith('*') ? url.startsWith(wanted.slice(0, -1)) : url === wanted;
}

function bodyDifferences(body: string | null, wanted: Readonly<Record<string, unknown>>): string[] {
  if (Object.keys(wanted).length === 0) return [];
  const parsed = parsedBody(body);
  if (parsed === undefined) return [body === null ? 'there was no body' : 'the body is not JSON'];
  return differences(parsed, wanted);
}

function parsedBody(body: string | null): unknown {
  try {
    return body === null ? undefined : JSON.parse(body);
  } catch {
    return undefined;
  }
}

export const webhookTriggered: AssertionRule<'WEBHOOK_TRIGGERED'> = {
  evaluate: ({ node_id, url, min_calls = 1, body_match }, record) => {
    const there = (call: RecordedWebhook) =>
      (node_id === undefined || call.node_id === node_id) && (url === undefined || urlMatches(call.url, url));
    const wrong = record.webhook_calls
      .filter(there)
      .map((call) => (body_match === undefined ? [] : bodyDifferences(call.body, body_match)));
    const found = wrong.filter((parts) => parts.length === 0).length;
    const off = wrong.find((parts) => parts.length > 0)?.slice(0, 5);
    const what = [
      node_id === undefined ? null : `from ${nodeText(record, node_id)}`,
      url === undefined ? null : `to ${url}`,
      body_match === undefined ? null : `with ${JSON.stringify(body_match)}`,
    ];
    const expected = [`at least ${min_calls}`, ...what.filter((part) => part !== null)].join(' ');
    // Of a production call it is known which node called, not what.
    const calls = record.webhook_calls.map(({ method, node_id: caller, url: called }) =>
      called === '' ? nodeText(record, caller) : `${method} ${called}`,
    );
    const reasoning = `${found} of ${calls.length} webhook calls match; wanted ${expected}.${off ? ` In one ${off.join('; ')}.` : ''}`;
    return decided(found >= min_calls, Math.min(1, found / min_calls), {
      reasoning,
      target: calls.slice(0, 20).join(', ') || null,
      expected,
    });
  },
  failedNode: ({ node_id }) => node_id ?? null,
};
