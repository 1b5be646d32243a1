/** Traces, as a real collector gets them over HTTP (docs/tracing.md). */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { createModels } from '#shared/models/models.ts';
import { SpeechError, type TextToSpeech } from '#shared/models/speech.ts';
import { openTracing } from '#shared/tracing/open-telemetry.ts';
import { startTracing } from '#shared/tracing/start.ts';
import { idsOfCall, readTraceparent, type Tracing } from '#shared/tracing/tracing.ts';
import { createToolClient } from '../edge/agent/tool-client.ts';
import { tracedServers } from '../edge/agent/traced-servers.ts';
import type { TranscriptionEvents } from '../edge/agent/transcription/transcription.ts';
import { createLog } from '../edge/log.ts';
import { tracedTransfer } from '../edge/start/tracing.ts';
import { startControl } from './kit/control/harness.ts';
import { blind, settle, TransferBench } from './kit/edge/transfer.ts';
import { ModelServer } from './kit/fakes/model-server.ts';
import { TraceCollector } from './kit/fakes/trace-collector.ts';

const root = dirname(import.meta.dirname);
const callId = '01890a5d-ac96-774b-bcce-b302099a8057';
const ofCall = { trace_id: '01890a5dac96774bbcceb302099a8057', span_id: 'bcceb302099a8057' };

let collector: TraceCollector;
let tracing: Tracing;
const failures: string[] = [];

beforeEach(async () => {
  failures.length = 0;
  collector = await TraceCollector.start();
  tracing = open();
});
afterEach(async () => {
  await tracing.close();
  await collector.close();
});

function open(): Tracing {
  return openTracing(
    { endpoint: collector.url },
    { service: 'trunkline-edge', version: '1.2.3', failing: ({ message }) => failures.push(message) },
  );
}

describe('the ids of a call', () => {
  it('are those of its own id, which both programs know', () => {
    expect(idsOfCall(callId)).toEqual(ofCall);
    expect(idsOfCall('an id of somebody else')).toEqual({
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });

  it('are in each line of the edge about it, when traces are on', () => {
    const lines: string[] = [];
    const settings = { level: 'info', form: 'json' } as const;
    const write = { write: (line: string) => void lines.push(line) };
    const log = createLog(settings, write, true);
    log.child({ call_id: callId }).info('of its own log');
    log.info({ call_id: callId }, 'by a field');
    log.info('about something else');
    createLog(settings, write).info({ call_id: callId }, 'traces are off');
    const [own, field, other, off] = lines.map((line) => JSON.parse(line));
    expect(own).toMatchObject(ofCall);
    expect(field).toMatchObject(ofCall);
    expect(other).not.toHaveProperty('trace_id');
    expect(off).not.toHaveProperty('trace_id');
  });

  it('of others come in a traceparent', () => {
    expect(readTraceparent(`00-${ofCall.trace_id}-${ofCall.span_id}-01`)).toEqual(ofCall);
    for (const wrong of [undefined, '', 'x', `00-${'0'.repeat(32)}-${ofCall.span_id}-01`])
      expect(readTraceparent(wrong)).toBeNull();
  });
});

describe('a call', () => {
  it('is a span with its own times and how it ended', async () => {
    const facts = {
      callId,
      orgId: 'o-1',
      direction: 'inbound',
      answered: true,
      termination: 'peer_hung_up',
    } as const;
    tracing.call({ ...facts, startedAt: 1_893_456_000_000, endedAt: 1_893_456_007_500 });
    await tracing.close();
    expect(collector.spans).toEqual([
      {
        service: 'trunkline-edge',
        name: 'call',
        traceId: ofCall.trace_id,
        spanId: ofCall.span_id,
        parentSpanId: '',
        kind: 2,
        attributes: {
          'trunkline.call_id': callId,
          'trunkline.org_id': 'o-1',
          'trunkline.direction': 'inbound',
          'trunkline.answered': true,
          'trunkline.termination': 'peer_hung_up',
        },
        links: [],
        status: { code: 0 },
        startMs: 1_893_456_000_000,
        endMs: 1_893_456_007_500,
      },
    ]);
  });

  it('has the requests to models and speech servers below it, without their words', async () => {
    const server = await ModelServer.start();
    const limits = { timeoutMs: 30_000, maxRetries: 0, maxTokens: 100 };
    const agent = { baseUrl: server.url, apiKey: 'sk-secret', model: 'm-1' };
    const models = createModels(
      { agent, turbo: agent, concurrency: 1 },
      { clock: systemClock, random: () => 0, limits },
    );
    const tts: TextToSpeech = {
      synthesize: async () => {
        throw new SpeechError('cannot say "a secret sentence"');
      },
      async *stream() {
        yield new Int16Array(8);
      },
      close: async () => undefined,
    };
    let heard: TranscriptionEvents | null = null;
    const transcriber = {
      open: (_options: object, events: TranscriptionEvents) => {
        heard = events;
        return {
          write: () => undefined,
          begin: () => undefined,
          end: () => undefined,
          close: () => undefined,
        };
      },
    };
    const answers = [
      { status: 200, body: 'a secret body', error: null },
      { status: null, body: null, error: 'a secret host is away' },
    ];
    const webhook = async () => answers.shift() as never;
    const servers = { models, tts, stt: null, transcriber, webhook };
    const traced = tracedServers(servers, { callId, orgId: 'o-1' }, tracing);
    const { dialogue } = traced.models.agent({ onFailure: 'reject' });
    server.record(
      { text: ['A secret answer.'], usage: { input: 7, output: 2 } },
      { status: 500, body: '{"error":"a secret failure"}' },
    );
    const question = { system: 'a secret prompt', messages: [{ role: 'user', text: 'u' }] } as never;
    for await (const _part of dialogue.reply(question));
    await expect(async () => {
      for await (const _part of dialogue.reply(question));
    }).rejects.toThrow();
    const speech = { voice: 'slt', language: 'en-US', sampleRate: 8000 } as never;
    await expect(traced.tts.synthesize('a secret sentence', speech)).rejects.toThrow('cannot say');
    for await (const _piece of traced.tts.stream?.('a secret text', speech, new AbortController().signal) ??
      []);
    const turns = traced.transcriber?.open({ sampleRate: 8000, language: 'en', keyTerms: [] }, {
      final: () => undefined,
      failed: () => undefined,
    } as never);
    turns?.end();
    (heard as TranscriptionEvents | null)?.final({ text: 'secret words', confidence: null, language: null });
    turns?.end();
    turns?.close();
    const request = { url: 'https://shop.example.com/secret' } as never;
    await traced.webhook(request, 'n-1');
    await traced.webhook(request, 'n-1');
    await tracing.close();
    await server.close();

    expect(collector.of(ofCall.trace_id)).toHaveLength(collector.spans.length);
    for (const { parentSpanId, kind, attributes } of collector.spans)
      expect({ parentSpanId, kind, call: attributes['trunkline.call_id'] }).toEqual({
        parentSpanId: ofCall.span_id,
        kind: 3,
        call: callId,
      });
    expect(collector.spans.map(({ name, status }) => `${name}: ${status.message ?? 'ok'}`)).toEqual([
      'model request: ok',
      'model request: refused',
      'text-to-speech: SpeechError',
      'text-to-speech: ok',
      'speech-to-text: ok',
      'speech-to-text: closed',
      'webhook request: ok',
      'webhook request: failed',
    ]);
    expect(collector.spans.at(-2)?.attributes).toMatchObject({ 'http.response.status_code': 200 });
    expect(collector.spans[0]?.attributes).toMatchObject({
      'trunkline.model_role': 'agent',
      'gen_ai.request.model': 'm-1',
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 2,
    });
    expect(collector.texts.join()).not.toMatch(/secret/i);
  });
});

describe('a tool on a call', () => {
  it('is a span, which control gets as traceparent', async () => {
    const parents: unknown[] = [];
    const replies = [{ ok: true }, { ok: false, error: 'a secret failure' }];
    const control = createServer((request, response) => {
      parents.push(request.headers.traceparent);
      response.end(JSON.stringify({ data: replies.shift() }));
    });
    await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
    const { port } = control.address() as AddressInfo;
    const tool = { tool_id: 'TL-1', name: 'look_up', description: 'Finds', input_schema: null, speech: null };
    const controlUrl = `http://127.0.0.1:${port}`;
    const client = createToolClient({ controlUrl, edgeToken: 'et_secret', clock: systemClock, tracing });
    const tools = client([{ ...tool, timeout_ms: 5000 } as never], { callId, orgId: 'o-1' });
    const { signal } = new AbortController();
    await tools.run('look_up', { order: 'a secret order' }, signal, {});
    await tools.run('look_up', {}, signal, {});
    await expect(tools.run('look_up', {}, AbortSignal.abort(), {})).rejects.toThrow();
    await tracing.close();
    control.closeAllConnections();
    await new Promise((resolve) => control.close(resolve));

    expect(collector.spans.map(({ name, status }) => `${name}: ${status.message ?? 'ok'}`)).toEqual([
      'tool call: ok',
      'tool call: failed',
      'tool call: aborted',
    ]);
    expect(collector.spans[0]).toMatchObject({
      traceId: ofCall.trace_id,
      parentSpanId: ofCall.span_id,
      attributes: { 'trunkline.call_id': callId, 'trunkline.org_id': 'o-1', 'trunkline.tool_id': 'TL-1' },
    });
    expect(parents).toEqual(
      collector.spans.slice(0, 2).map(({ spanId }) => `00-${ofCall.trace_id}-${spanId}-01`),
    );
    expect(collector.texts.join()).not.toMatch(/secret/i);
  });
});

describe('a transfer', () => {
  it('is a span of the call until its outcome, with the call to the target', async () => {
    const bench = new TransferBench();
    bench.onTransfer = (kind, call) => tracedTransfer(tracing, kind, call);
    const { agent } = await bench.callUp();
    await bench.transfer(agent, blind());
    await bench.targetAnswers();
    bench.calls.stop('id-1');
    const second = await bench.callUp();
    await bench.transfer(second.agent, { ...blind(), method: 'refer' });
    second.peer.refers[0]?.done(486, 'Busy Here');
    await settle();
    await tracing.close();

    const parent = idsOfCall('id-1');
    expect(collector.spans[0]).toMatchObject({
      name: 'transfer',
      traceId: parent.trace_id,
      parentSpanId: parent.span_id,
      attributes: {
        'trunkline.call_id': 'id-1',
        'trunkline.org_id': 'org-1',
        'trunkline.transfer_kind': 'bridge',
        'trunkline.target_call_id': 'id-3',
      },
      status: { code: 0 },
    });
    expect(collector.spans[1]).toMatchObject({
      attributes: { 'trunkline.transfer_kind': 'refer' },
      status: { code: 2, message: 'target_failed' },
    });
    expect(collector.spans).toHaveLength(2);
    expect(collector.texts.join()).not.toContain('4155550');
  });
});

describe('a request to the API', () => {
  it('is a span with its route, linked with its call and with the span of its client', async () => {
    const lines: string[] = [];
    const logger = pino(
      { level: 'info', mixin: () => tracing.active ?? {} },
      { write: (line: string) => void lines.push(line) },
    );
    const control = await startControl({}, {}, {}, { tracing, logger });
    const theirs = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
    const headers = { traceparent: `00-${theirs.traceId}-${theirs.spanId}-01` };
    const { status } = await control.call('GET', `/v1/calls/${callId}?secret=+14155550100`, { headers });
    expect(status).toBe(404);
    await control.call('GET', '/v1/sip/status?phone_number=%2B14155550100');
    await control.call('GET', '/health', { key: null });
    const { text } = await control.call('GET', '/metrics', { key: control.operatorKey });
    expect(text).toContain('trunkline_control_spans_total{outcome="dropped"} 0');
    await control.close();

    const [first, second] = collector.spans;
    expect(collector.spans).toHaveLength(2);
    expect(first).toMatchObject({
      name: 'GET /v1/calls/:call_id',
      kind: 2,
      parentSpanId: '',
      links: [theirs, { traceId: ofCall.trace_id, spanId: ofCall.span_id }],
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/v1/calls/:call_id',
        'http.response.status_code': 404,
        'trunkline.call_id': callId,
      },
    });
    expect(first?.traceId).not.toBe(theirs.traceId);
    expect(second).toMatchObject({ name: 'GET /v1/sip/status', links: [] });
    const sent = collector.texts.join();
    for (const secret of ['14155550100', control.key, 'secret']) expect(sent).not.toContain(secret);
    const logged = lines.map((line) => JSON.parse(line)).filter(({ trace_id: id }) => id === first?.traceId);
    expect(logged.length).toBeGreaterThan(0);
    expect(logged[0]).toMatchObject({ trace_id: first?.traceId, span_id: first?.spanId });
  });
});

describe('spans', () => {
  const begin = () => tracing.begin('one', { kind: 'client', parent: null, attributes: {} });

  it('beyond the most that wait are dropped and counted', async () => {
    for (let count = 0; count < 2500; count += 1) begin().end({}, null);
    expect(tracing.counts).toEqual({ sent: 0, dropped: 452, failed: 0 });
    await tracing.close();
    expect(tracing.counts).toEqual({ sent: 2048, dropped: 452, failed: 0 });
    expect(collector.spans).toHaveLength(2048);
  });

  it('that the collector refuses are counted, and it is said once', async () => {
    collector.status = 400;
    for (let count = 0; count < 600; count += 1) begin().end({}, null);
    await tracing.close();
    expect(tracing.counts).toEqual({ sent: 0, dropped: 0, failed: 600 });
    expect(failures).toHaveLength(1);
  });
});

describe('without a collector', () => {
  it('there is no tracing', async () => {
    const options = { service: 'trunkline-edge', version: '1', failing: () => undefined } as const;
    expect(await startTracing(null, options)).toBeNull();
  });

  it('no package of OpenTelemetry is loaded: one file imports what uses them, when there is a collector', () => {
    const files = ['shared', 'outgoing', 'edge', 'control'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => /(?<!\.test)\.ts$/.test(file))
        .map((file) => join(folder, file)),
    );
    const withText = (text: RegExp) =>
      files.filter((file) => text.test(readFileSync(join(root, file), 'utf8')));
    const using = ['shared/tracing/bounded-spans.ts', 'shared/tracing/open-telemetry.ts'];
    expect(withText(/'@opentelemetry\//).sort()).toEqual(using);
    expect(withText(/bounded-spans\.ts'/)).toEqual(['shared/tracing/open-telemetry.ts']);
    expect(withText(/open-telemetry\.ts'/)).toEqual(['shared/tracing/start.ts']);
    expect(withText(/await import\('\.\/open-telemetry\.ts'\)/)).toEqual(['shared/tracing/start.ts']);
    expect(withText(/from '\.\/open-telemetry\.ts'/)).toEqual([]);
  });
});
