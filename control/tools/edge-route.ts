/**
 * POST /v1/edge/tool-runs: an edge runs a tool for a call (docs/tools.md). Targets, templates and credentials stay
 * here; the edge has only a tool's name, inputs and speech. Authenticated by the edge token, like the edge link.
 */
import { Type } from 'typebox';
import { Plain, plain } from '#shared/api/common.ts';
import { EdgeToolResult, EdgeToolRun } from '#shared/api/tools.ts';
import { type App, untilGone } from '../http/index.ts';
import { findEdgeToken, keyOfHeader } from '../organizations/index.ts';
import type { ToolDeps } from './deps.ts';
import { runForConversation } from './tool-runner.ts';
import type { Tools } from './tools.ts';

const Answer = Plain(Type.Object({ ...EdgeToolResult.properties, variables: Type.Unknown() }));

export function edgeToolRoute(app: App, services: ToolDeps, tools: Tools): void {
  app.route({
    method: 'POST',
    url: '/v1/edge/tool-runs',
    config: { access: 'edge' },
    schema: { hide: true, body: EdgeToolRun, response: { 200: Answer } },
    onRequest: async (request) => {
      const token = keyOfHeader(request.headers.authorization);
      const { clock, database } = services;
      if (token === null || (await findEdgeToken(database.db, clock, token)) === null) {
        throw await services.wrongKeys.refusal(request.ip, token);
      }
    },
    handler: async (request) => {
      const { org_id: orgId, call_id: conversationId, tool_id: toolId, inputs, variables } = request.body;
      const run = { orgId, toolId, conversationId, source: 'call' as const };
      return plain(
        await untilGone(request, (signal) => runForConversation(tools, run, inputs, signal, variables)),
      );
    },
  });
}
