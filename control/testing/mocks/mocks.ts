/**
 * Replaces the outside world in a run, as its scenario declares (`declared.ts`). The first matching mock answers. Without
 * one, requests that only read (GET, HEAD: RFC 9110 section 9.2.1) are actually sent, and those that may write only when
 * the scenario allows it; both only to hosts in the tested version. Everything else is a dry run: the request is
 * recorded, and the response is a neutral success.
 */
import type { WebhookRequest, WebhookResult } from '#shared/agent/conversation.ts';
import { isObject } from '#shared/agent/graph-problem.ts';
import type { ToolResult, Variables } from '#shared/agent/interfaces.ts';
import type { Clock } from '#shared/clock.ts';
import type { TextAgent, TextSessionParts, TextTools } from '../../conversations/index.ts';
import type { RecordedToolCall, RecordedWebhook } from '../judging/ports.ts';
import type { Mock, MockResponse, Outside } from './declared.ts';

/** Literal hosts of the webhooks in an agent's graphs. */
export function namedHosts(agent: TextAgent | null): ReadonlySet<string> {
  const hosts = new Set<string>();
  for (const { data } of webhookNodes(agent)) {
    const url = typeof data.url === 'string' ? data.url : '';
    // A template in the host would let the conversation choose it.
    if (/^[^/]*(?:\/\/[^/?#]*)?\{\{/.test(url)) continue;
    const literal = url.replaceAll(/\{\{[^{}]*\}\}/g, 'x');
    if (URL.canParse(literal)) hosts.add(new URL(literal).host);
  }
  return hosts;
}

function webhookNodes(agent: TextAgent | null): { id: unknown; data: Record<string, unknown> }[] {
  const graphs = agent?.graphs ?? [];
  return graphs.flatMap(({ nodes }) =>
    nodes.flatMap(({ id, type, data }) => (type === 'Webhook' && isObject(data) ? [{ id, data }] : [])),
  );
}

export interface RecorderParts {
  readonly outside: Outside;
  /** null: of others, which calls neither webhooks nor tools of ours. */
  readonly agent: TextAgent | null;
  readonly clock: Pick<Clock, 'now'>;
  /** Sends actual requests. */
  readonly webhook: TextSessionParts['webhook'];
  readonly tools: TextTools | null;
}

/** Answers the webhooks and tools of one run, and records each call with its response. */
export class Recorder {
  readonly #parts: RecorderParts;
  readonly #hosts: ReadonlySet<string>;
  /** How often each mock has answered. */
  readonly #answered = new Map<Mock, number>();
  readonly webhookCalls: RecordedWebhook[] = [];
  readonly toolCalls: RecordedToolCall[] = [];

  constructor(parts: RecorderParts) {
    this.#parts = parts;
    this.#hosts = namedHosts(parts.agent);
  }

  readonly webhook: TextSessionParts['webhook'] = async (request, nodeId) => {
    const at = this.#now();
    const mock = this.#parts.outside.mocks.find((one) => fitsWebhook(one, request, nodeId));
    const real = !mock && this.#mayBeSent(request);
    const result = mock
      ? this.#mocked(this.#next(mock), nodeId)
      : real
        ? await this.#parts.webhook(request, nodeId)
        : { status: 200, body: {}, error: null };
    const { url, method, body } = request;
    this.webhookCalls.push({
      node_id: nodeId,
      url,
      method,
      status_code: result.status,
      at,
      body,
      response: result.body,
      mocked: !real,
    });
    return result;
  };

  /** Null when the agent has none. */
  get tools(): TextTools | null {
    const { tools } = this.#parts;
    if (!tools) return null;
    return (given, conversation) => {
      const runner = tools(given, conversation);
      return {
        list: () => runner.list(),
        run: async (name, input, signal, variables) => {
          const at = this.#now();
          const mock = this.#parts.outside.mocks.find(({ tool }) => tool === name);
          const real = !mock && this.#parts.outside.allowReal;
          const result = mock
            ? await mockedTool(this.#next(mock), (body) => runner.learned?.(name, body, signal))
            : real
              ? await runner.run(name, input, signal, variables)
              : { ok: true, data: {}, error: null, variables: {} };
          const { ok, data, error } = result;
          const answer = error === null ? data : { error };
          this.toolCalls.push({ name, node_id: null, input, ok, result: answer, at, mocked: !real });
          return result;
        },
      };
    };
  }

  /** A tool of an agent of others: a mock answers, or a neutral success. Nothing is ever run. */
  readonly foreignTool = (name: string, input: unknown): unknown => {
    const mock = this.#parts.outside.mocks.find(({ tool }) => tool === name);
    const { body, status } = mock ? this.#next(mock) : { status: 200, body: {} };
    const ok = status < 400;
    const result = ok ? (body ?? {}) : { error: `status ${status}`, body };
    this.toolCalls.push({ name, node_id: null, input, ok, result, at: this.#now(), mocked: true });
    return result;
  };

  #mayBeSent({ url, method }: WebhookRequest): boolean {
    const reads = method === 'GET' || method === 'HEAD';
    if (!reads && !this.#parts.outside.allowReal) return false;
    return URL.canParse(url) && this.#hosts.has(new URL(url).host);
  }

  /** Its next response; the last one remains. */
  #next(mock: Mock): MockResponse {
    const place = this.#answered.get(mock) ?? 0;
    this.#answered.set(mock, place + 1);
    return mock.responses[place] ?? mock.responses.at(-1) ?? nothing;
  }

  #mocked({ status, body, variables }: MockResponse, nodeId: string): WebhookResult {
    const node = webhookNodes(this.#parts.agent).find(({ id }) => id === nodeId);
    return { status, body: withVariables(body, variables, node?.data.responseData), error: null };
  }

  #now(): string {
    return new Date(this.#parts.clock.now()).toISOString();
  }
}

function fitsWebhook({ nodeId, url, method, tool }: Mock, request: WebhookRequest, at: string): boolean {
  if (tool !== null) return false;
  if (nodeId !== null && nodeId !== at) return false;
  if (method !== null && method !== request.method) return false;
  if (url === null) return true;
  return url.endsWith('*') ? request.url.startsWith(url.slice(0, -1)) : request.url === url;
}

const nothing: MockResponse = { status: 200, body: null, variables: {} };

/** @param learned what the tool's own `response_data` finds in a body */
async function mockedTool(
  { status, body, variables }: MockResponse,
  learned: (body: unknown) => Promise<Variables> | undefined,
): Promise<ToolResult> {
  if (status >= 400)
    return { ok: false, data: body, error: `the mock answers with status ${status}`, variables };
  return { ok: true, data: body, error: null, variables: { ...(await learned(body)), ...variables } };
}

/** Puts the variables where the node's `responseData` expects them. */
function withVariables(body: unknown, variables: Variables, responseData: unknown): unknown {
  if (Object.keys(variables).length === 0 || !Array.isArray(responseData)) return body;
  const filled = structuredClone(isObject(body) ? body : {});
  for (const entry of responseData as unknown[]) {
    if (!isObject(entry) || typeof entry.name !== 'string' || typeof entry.data !== 'string') continue;
    if (!Object.hasOwn(variables, entry.name)) continue;
    put(filled, entry.data.replace(/^\$\.?/, '').split(/[.[\]]+/), variables[entry.name]);
  }
  return filled;
}

function put(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const steps = path.filter((step) => step !== '');
  const last = steps.pop();
  if (last === undefined) return;
  let part = root;
  for (const step of steps) {
    const next = Object.hasOwn(part, step) ? part[step] : undefined;
    const inner = isObject(next) ? next : {};
    // Defined, not assigned: a step named __proto__ must not reach the prototype.
    Object.defineProperty(part, step, { value: inner, enumerable: true, writable: true, configurable: true });
    part = inner;
  }
  Object.defineProperty(part, last, { value, enumerable: true, writable: true, configurable: true });
}
