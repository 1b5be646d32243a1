/** The tools of one conversation, run here: for chats, widgets and tests, and for calls on behalf of their edge. */
import type { ToolResult, ToolRunner, Variables } from '#shared/agent/interfaces.ts';
import type { AgentTool } from '#shared/edge-protocol/agents.ts';
import { ApiError } from '#shared/errors.ts';
import { findTool } from './store.ts';
import type { RunResult, RunSource, Tools } from './tools.ts';

export interface ToolConversation {
  readonly orgId: string;
  readonly conversationId: string;
  readonly source: RunSource;
}

/** Runs an agent's tools, each in its current version. Of two with the same name it runs the first. */
export function toolRunner(
  tools: Tools,
  given: readonly AgentTool[],
  conversation: ToolConversation,
): ToolRunner {
  return {
    list: () =>
      given.map(({ name, description, input_schema, speech }) => ({
        name,
        description,
        inputSchema: input_schema ?? { type: 'object', properties: {} },
        speech,
      })),
    run: async (name, input, signal, variables) => {
      const tool = given.find((one) => one.name === name);
      if (!tool) return refusedResult(`there is no tool "${name}"`);
      return runForConversation(tools, { ...conversation, toolId: tool.tool_id }, input, signal, variables);
    },
    learned: async (name, data, signal) => {
      const known = given.find((one) => one.name === name);
      const tool = known && (await findTool(tools.db, conversation.orgId, known.tool_id));
      return tool ? tools.learned(tool, data, signal) : {};
    },
  };
}

/**
 * Runs a tool for a conversation. The tool's errors are in the result; rejects only when `signal` is aborted, or when
 * the service itself fails.
 */
export async function runForConversation(
  tools: Tools,
  conversation: ToolConversation & { readonly toolId: string },
  inputs: unknown,
  signal: AbortSignal,
  variables: Variables,
): Promise<ToolResult> {
  const { orgId, toolId, conversationId, source } = conversation;
  const tool = await findTool(tools.db, orgId, toolId);
  if (!tool) return refusedResult('the tool was deleted');
  try {
    return resultOf(await tools.run(tool, { inputs, variables, source, conversationId, signal }));
  } catch (error) {
    if (error instanceof ApiError) return refusedResult(error.message);
    throw error;
  }
}

function resultOf({ success, data, error, variables }: RunResult): ToolResult {
  return { ok: success, data, error, variables };
}

function refusedResult(error: string): ToolResult {
  return { ok: false, data: null, error, variables: {} };
}
