/** /v1/agent-testing/judges: how far a judge can be believed (contract 6.14). */
import { Calibrate, Calibration } from '#shared/api/agent-testing/calibration.ts';
import { testing } from '#shared/api/agent-testing/wrapping.ts';
import { type App, orgOf } from '../../http/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { calibrate } from './calibrate.ts';

export function calibrationRoutes(app: App, services: TestingDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/agent-testing/judges/calibrate',
    config: {
      access: 'member',
      limits: [{ scope: 'organization_judge_calibrate', limit: 5, windowSeconds: 60 }],
      errors: ['RUN_NOT_FOUND', 'RUN_NOT_FINISHED', 'RUN_RECORD_DELETED'],
    },
    schema: {
      summary: 'Compare the judge with verdicts of people',
      body: Calibrate,
      response: { 200: Calibration },
    },
    handler: async (request) => testing(await calibrate(services, orgOf(request), request.body)),
  });
}
