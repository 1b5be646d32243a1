/** `webhooks` of the OpenAPI document against the events of the code, their headers, and contract 13. */
import { readFileSync } from 'node:fs';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { webhookEvents } from '#shared/api/webhook-events.ts';
import { webhookHeaders } from '../webhooks/rules.ts';
import { openApiWebhooks } from './openapi-webhooks.ts';

const webhooks = openApiWebhooks();
const events = Object.entries(webhooks).map(([type, { post }]) => ({ type, operation: post }));

describe('the webhooks of the OpenAPI document', () => {
  it('are all events that the code can send, and those of contract 13', () => {
    const types = Object.keys(webhookEvents);
    expect(Object.keys(webhooks)).toEqual(types);
    const page = readFileSync(new URL('../../docs/contract/13-webhooks.md', import.meta.url), 'utf8');
    const rows = page.split('\n').filter((line) => /^\| `\w+\.\w+/.test(line));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)]);
    expect(named.map(([, type]) => type).sort()).toEqual([...types].sort());
  });

  it('have the headers that an attempt has', () => {
    const sent = webhookHeaders({ id: 'evt_1', type: 'call.completed', body: '{}', attempt: 1 }, 'ab', 0);
    const own = Object.keys(sent).filter((name) => name.startsWith('x-webhook-'));
    for (const { operation } of events) {
      const described = operation?.parameters?.map(({ name }) => name.toLowerCase()) ?? [];
      expect(described.sort()).toEqual(own.sort());
    }
  });

  it('have a summary and an example that passes the schema; only call.completed is the bare call', () => {
    for (const { type, operation } of events) {
      const { schema, examples = {} } = operation?.requestBody?.content?.['application/json'] ?? {};
      expect([type, operation?.summary]).toEqual([type, expect.stringMatching(/^[A-Z].{10}/)]);
      const { value } = examples.request ?? {};
      expect([type, Compile(schema as object).Check(value)]).toEqual([type, true]);
      const envelope = { type, data: expect.anything(), org_id: 'text' };
      if (type === 'call.completed') expect(value).toHaveProperty('call_id');
      else expect(value).toMatchObject(envelope);
    }
  });
});
