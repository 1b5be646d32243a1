/** /v1/agent-testing/runs/{id}/analyze (contract 6.5). */

import { RunAnalysis, RunPath } from '#shared/api/agent-testing/runs.ts';
import { testing } from '#shared/api/agent-testing/wrapping.ts';
import { NoMembers } from '#shared/api/common.ts';
import { type App, orgOf } from '../../http/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { analyzeRun } from './analyze.ts';

export function analysisRoutes(app: App, services: TestingDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/agent-testing/runs/:id/analyze',
    config: {
      access: 'member',
      limits: [{ scope: 'organization_run_analyze', limit: 10, windowSeconds: 60 }],
      errors: [
        'RUN_NOT_FOUND',
        'RUN_NOT_FINISHED',
        'RUN_NOT_FAILED',
        'RUN_RECORD_DELETED',
        'MODEL_UNAVAILABLE',
      ],
    },
    schema: {
      summary: 'Why a run failed',
      params: RunPath,
      body: NoMembers,
      response: { 200: RunAnalysis },
    },
    handler: async (request) =>
      testing({ analysis: await analyzeRun(services, orgOf(request), request.params.id) }),
  });
}
