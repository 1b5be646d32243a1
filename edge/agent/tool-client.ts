/**
 * Tools on a live call. The edge knows the tool's description; control runs it, because its target, template and
 * credentials stay there. While control is away, the result says so and the call continues.
 */

import { isObject } from '#shared/agent/graph-problem.ts';
import type { ToolResult, ToolRunner, Variables } from '#shared/agent/interfaces.ts';
import { boundedBody } from '#shared/bounded-body.ts';
import type { Clock } from '#shared/clock.ts';
import type { AgentTool } from '#shared/edge-protocol/agents.ts';
import { beginOfCall, type OpenSpan, type Tracing, traceparentOf } from '#shared/tracing/tracing.ts';
import type { CallFacts } from '../call/ports/agents.ts';

export interface ToolClientOptions {
  /** http(s) base URL of the control plane */
  readonly controlUrl: string;
  readonly edgeToken: string;
  readonly clock: Clock;
  /** Absent: no traces. */
  readonly tracing?: Tracing | undefined;
}

/** Maximum size of a conversation's variables to send, bytes; a call with more runs its tools without them. */
const mostVariables = 60_000;
/** Maximum size of a result, bytes: control keeps answers of tools far below it. */
const mostAnswerBytes = 4_194_304;

/** Creates the runner of one call's tools. */
export function createToolClient(options: ToolClientOptions) {
  return (tools: readonly AgentTool[], call: ToolCall): ToolRunner => ({
    list: () => toolDescriptions(tools),
    run: async (name, inputs, signal, variables) => {
      const tool = tools.find((one) => one.name === name);
      if (!tool) return failed(`there is no tool "${name}"`);
      const { tracing } = options;
      const span = tracing && beginOfCall(tracing, 'tool call', call, { 'trunkline.tool_id': tool.tool_id });
      let error: string | null = 'aborted';
      try {
        const result = await runWithin(options, tool, call, { inputs, variables, span }, signal);
        error = result.ok ? null : 'failed';
        return result;
      } finally {
        span?.end({}, error);
      }
    },
  });
}

interface Run {
  readonly inputs: unknown;
  readonly variables: Variables;
  readonly span: OpenSpan | undefined;
}
type ToolCall = Pick<CallFacts, 'callId' | 'orgId'>;

async function runWithin(
  options: ToolClientOptions,
  tool: AgentTool,
  call: ToolCall,
  run: Run,
  signal: AbortSignal,
): Promise<ToolResult> {
  const limit = new AbortController();
  const timer = options.clock.after(tool.timeout_ms, () => limit.abort());
  try {
    return await ask(options, tool, call, run, AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    signal.throwIfAborted();
    if (limit.signal.aborted) return failed(`the tool did not end within ${tool.timeout_ms} ms`);
    return failed(`the control plane cannot be reached: ${errorText(error)}`);
  } finally {
    timer.cancel();
  }
}

/** The tools as described to an agent. */
export function toolDescriptions(tools: readonly AgentTool[]): ReturnType<ToolRunner['list']> {
  return tools.map(({ name, description, input_schema, speech }) => ({
    name,
    description,
    inputSchema: input_schema ?? { type: 'object', properties: {} },
    speech,
  }));
}

async function ask(
  { controlUrl, edgeToken }: ToolClientOptions,
  tool: AgentTool,
  call: ToolCall,
  { inputs, variables, span }: Run,
  signal: AbortSignal,
): Promise<ToolResult> {
  const answer = await fetch(new URL('/v1/edge/tool-runs', controlUrl), {
    method: 'POST',
    redirect: 'error',
    signal,
    headers: {
      authorization: `Bearer ${edgeToken}`,
      'content-type': 'application/json',
      // Control's span of this request is linked with ours.
      ...(span && { traceparent: traceparentOf(span.ids) }),
    },
    body: JSON.stringify({
      org_id: call.orgId,
      call_id: call.callId,
      tool_id: tool.tool_id,
      inputs,
      variables: JSON.stringify(variables).length > mostVariables ? {} : variables,
    }),
  });
  const { bytes, cut } = await boundedBody(answer, mostAnswerBytes);
  if (answer.status !== 200) return failed(`the control plane answered ${answer.status}`);
  if (cut) return failed(`the control plane answered more than ${mostAnswerBytes} bytes`);
  return resultOf(JSON.parse(new TextDecoder().decode(bytes)));
}

function resultOf(body: unknown): ToolResult {
  const data = isObject(body) ? body.data : null;
  if (!isObject(data) || typeof data.ok !== 'boolean') return failed('the control plane answered nonsense');
  return {
    ok: data.ok,
    data: data.data ?? null,
    error: typeof data.error === 'string' ? data.error : null,
    variables: isObject(data.variables) ? { ...data.variables } : {},
  };
}

function failed(error: string): ToolResult {
  return { ok: false, data: null, error, variables: {} };
}

/** fetch hides the actual error in `cause`. */
function errorText(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
