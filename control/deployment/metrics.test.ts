import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { createModels } from '#shared/models/models.ts';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { ModelServer } from '../../test/kit/fakes/model-server.ts';
import { modelMetrics } from './metrics.ts';

it('shows requests and tokens by role', async () => {
  const server = await ModelServer.start();
  const judge = { baseUrl: server.url, apiKey: null, model: 'm"1' };
  const limits = { timeoutMs: 5000, maxRetries: 0, maxTokens: 100 };
  const models = createModels(
    { agent: null, turbo: null, concurrency: 1, caller: null, judge },
    { clock: new FakeClock(), random: () => 0, limits },
  );
  server.record({ text: ['Fine.'], usage: { input: 7, output: 2 } });
  await models.judge?.text({ system: 's', messages: [{ role: 'user', text: 'u' }] });
  expect(modelMetrics(models)).toBe(
    [
      '# TYPE trunkline_control_model_requests_total counter',
      'trunkline_control_model_requests_total{role="judge",outcome="ok"} 1',
      '# TYPE trunkline_control_model_tokens_total counter',
      'trunkline_control_model_tokens_total{role="judge",model="m_1",direction="input"} 7',
      'trunkline_control_model_tokens_total{role="judge",model="m_1",direction="output"} 2',
      '# TYPE trunkline_control_model_requests gauge',
      'trunkline_control_model_requests 0',
      '# TYPE trunkline_control_model_requests_waiting gauge',
      'trunkline_control_model_requests_waiting 0',
      '',
    ].join('\n'),
  );
  await server.close();
});

it('has zero for what an alert is about from the first one on: Prometheus does not see what a series begins with', async () => {
  const test = await startRoutes();
  const { text } = await test.call('GET', '/metrics', { key: test.operatorKey });
  await test.close();
  expect(text.split('\n')).toEqual(
    expect.arrayContaining([
      'trunkline_control_calls_lost_total 0',
      'trunkline_control_storage_failures_total 0',
      'trunkline_control_lease_changes_total{change="lost"} 0',
      'trunkline_control_webhook_attempts_total{type="call.completed",outcome="given_up"} 0',
    ]),
  );
});
