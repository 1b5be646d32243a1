/** The SDK against a real control plane, and against servers that fail. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../../shared/edge-protocol/calls.ts';
import {
  callRecord,
  connectEdge,
  type EdgeClient,
  reportFrame,
} from '../../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { eventually } from '../../../test/kit/programs/eventually.ts';
import { ApiError, ConnectionError, type StreamEvent, TimeoutError, Trunkline } from './index.ts';

let test: TestControl;
let client: Trunkline;
const id = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;

let edge: EdgeClient;
let seq = 1;
/** Reports calls as an edge, and waits until they are stored. */
async function report(calls: readonly Partial<CallRecord>[]): Promise<void> {
  edge.send(
    reportFrame(
      seq,
      calls.map((call) => ({ type: 'call', call: callRecord(test.orgId, call) })),
    ),
  );
  seq += calls.length;
  while ((await edge.next('ack')).seq < seq - 1);
}

beforeAll(async () => {
  test = await startControl({ RATE_LIMIT_PER_MINUTE: '1000', EXPECT_EDGE: 'true' });
  edge = await connectEdge(test);
  client = new Trunkline({ apiKey: test.key, baseUrl: `${await test.url()}/` });
  await report(
    [1, 2, 3, 4, 5].map((last) => ({ id: id(last), started_at: `2030-01-0${last}T00:00:00.000Z` })),
  );
});
afterAll(async () => {
  await edge.kill();
  await test.close();
});

describe('a list', () => {
  it('is gone through over its pages, by a cursor', async () => {
    const list = client.calls.list({ limit: 2 });
    const seen: string[] = [];
    for await (const { call_id } of list) seen.push(call_id);
    expect(seen).toEqual([5, 4, 3, 2, 1].map(id));
    const pages: number[] = [];
    for await (const page of list.pages()) pages.push(page.length);
    expect(pages).toEqual([2, 2, 1]);
    expect((await list.take(3)).map(({ call_id }) => call_id)).toEqual([5, 4, 3].map(id));
    expect(await list.take(0)).toEqual([]);
  });

  it('goes on by an offset or a page number, where the list is an older one', async () => {
    for (const name of ['A', 'B', 'C']) {
      await client.request('POST /v1/pathway/create', { body: { name } });
      await client.request('POST /v1/personas', { body: { name } });
    }
    const names = async (list: AsyncIterable<{ readonly name: string }>) => {
      const found: string[] = [];
      for await (const { name } of list) found.push(name);
      return found.sort();
    };
    expect(await names(client.list('GET /v1/pathway', { query: { limit: 2 } }))).toEqual(['A', 'B', 'C']);
    expect(await names(client.list('GET /v1/personas', { query: { limit: 1 } }))).toEqual(['A', 'B', 'C']);
    expect(await names(client.pathways.list())).toEqual(['A', 'B', 'C']);
  });
});

describe('an error of the API', () => {
  it('has code, field, status and request id', async () => {
    const failed = await client.calls.get(id(99)).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ApiError);
    expect(failed).toMatchObject({ status: 404, code: 'CALL_NOT_FOUND', field: null });
    const body = { phone_number: '', task: 'x' };
    const invalid = await client.calls
      .create(body, { headers: { 'x-request-id': 'mine' } })
      .catch((error: unknown) => error);
    expect(invalid).toMatchObject({ status: 400, field: '/phone_number', requestId: 'mine' });
    const stranger = new Trunkline({ apiKey: 'tk_unknown', baseUrl: await test.url() });
    await expect(stranger.calls.list().take(1)).rejects.toMatchObject({ status: 401, code: 'AUTH_FAILURE' });
  });
});

describe('a key that cannot be one', () => {
  it.each(['{\n "api_key": "tk_secret"\n}', 'tk_secret\u200b.', 'tk_se cret', 'tk_secret\ntk_secret'])(
    'is refused at once, and not shown: %j',
    (apiKey) => {
      const made = () => new Trunkline({ apiKey });
      expect(made).toThrow(/^apiKey has characters that are in no key$/);
    },
  );

  it('is not one with a line end behind it, as of a file', async () => {
    const fromFile = new Trunkline({ apiKey: `${test.key}\n`, baseUrl: await test.url() });
    expect(await fromFile.calls.list().take(1)).toHaveLength(1);
  });
});

describe('a file', () => {
  it('is the response itself', async () => {
    const answer = await client.request('GET /docs', {});
    expect(answer).toBeInstanceOf(Response);
    expect(await answer.text()).toContain('<!doctype html>');
  });
});

describe('the event stream', () => {
  it('has what happens from now on', async () => {
    const stream = client.events({ types: ['call'] });
    // The clock of the control plane is moved by hand.
    const next = (what: string) => {
      let got: StreamEvent | undefined;
      void stream.next().then(({ value }) => {
        got = value ?? undefined;
      });
      return eventually(what, () => {
        test.clock.advance(25);
        return got;
      });
    };
    expect(await next('the stream')).toEqual({ type: 'open', resumed: false });
    await report([{ id: id(6), ended_at: null, status: 'ringing', answered_at: null }]);
    const begun = await next('the call');
    if (begun.type !== 'call.begun') throw new Error(begun.type);
    expect(begun.data?.call.id).toBe(id(6));
    await stream.return();
  });

  it('fails at once when it may not be read', async () => {
    const stranger = new Trunkline({ apiKey: 'tk_unknown', baseUrl: await test.url() });
    await expect(stranger.events().next()).rejects.toMatchObject({ status: 401 });
    await expect(client.events({ types: ['nothing'] }).next()).rejects.toMatchObject({
      code: 'INVALID_PARAMETER',
    });
  });
});

describe('a server that fails', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** @param answers the answers to the requests, one after the other; the last one stays */
  async function failing(...answers: ((request: IncomingMessage, response: ServerResponse) => void)[]) {
    const requests: IncomingMessage[] = [];
    const server = createServer((request, response) => {
      request.resume();
      requests.push(request);
      answers[Math.min(requests.length, answers.length) - 1]?.(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return {
      requests,
      failingClient: new Trunkline({ apiKey: 'tk_x', baseUrl: `http://127.0.0.1:${port}` }),
    };
  }

  const status =
    (code: number, headers: Record<string, string> = {}) =>
    (_: unknown, response: ServerResponse) =>
      response.writeHead(code, { 'content-type': 'application/json', ...headers }).end('{"call_id":"c"}');
  const cut = (request: IncomingMessage) => request.socket.destroy();

  it('is asked again, with the same Idempotency-Key', async () => {
    const { failingClient, requests } = await failing(cut, status(503, { 'retry-after': '0' }), status(200));
    expect(await failingClient.calls.create({ phone_number: '1001', task: 'x' })).toEqual({ call_id: 'c' });
    const keys = requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual(Array(3).fill(keys[0]));
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is not asked again when it may have done the work', async () => {
    const { failingClient, requests } = await failing(cut);
    const body = { phone_number: '14155550100', direction: 'inbound' as const };
    await expect(failingClient.request('PATCH /v1/sip/config', { body })).rejects.toBeInstanceOf(
      ConnectionError,
    );
    expect(requests).toHaveLength(1);
  });

  it('is given up after the retries, and its error has the status', async () => {
    const { failingClient, requests } = await failing(status(503, { 'retry-after': '0' }));
    await expect(failingClient.calls.get('c')).rejects.toMatchObject({ status: 503, code: 'HTTP_503' });
    expect(requests).toHaveLength(3);
  });

  it('that does not answer is waited for no longer than the time limit, and not after an abort', async () => {
    const { failingClient } = await failing(() => undefined);
    const limited = failingClient.calls.get('c', { timeoutMs: 50, maxRetries: 0 });
    await expect(limited).rejects.toBeInstanceOf(TimeoutError);
    const gone = failingClient.calls.get('c', { signal: AbortSignal.abort(new Error('enough')) });
    await expect(gone).rejects.toThrow('enough');
  });

  it('has its event stream opened again after the last event', async () => {
    const block = (id: string) =>
      `id: ${id}\nevent: call.ended\ndata: {"id":"${id}","type":"call.ended"}\n\n`;
    const stream = (text: string) => (_: unknown, response: ServerResponse) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`retry: 1\n\n${text}`);
    const { failingClient, requests } = await failing(stream(block('1-0')), stream(block('1-1')));
    const seen: unknown[] = [];
    for await (const event of failingClient.events()) {
      seen.push('id' in event && event.id);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(['1-0', '1-1']);
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1-0']);
  });
});
