import { afterEach, expect, it, vi } from 'vitest';
import { withLimits } from '#shared/limits.ts';
import type { Gate } from '#shared/models/gate.ts';
import type { TextToSpeech } from '#shared/models/speech.ts';
import { TwoStageDetectors } from '../agent/ears/two-stage-detector.ts';
import { CurrentConfig } from '../current-config.ts';
import { edgeLimits } from '../limits.ts';
import { createLog } from '../log.ts';
import { Metrics } from '../metrics.ts';
import { TestAgents } from './test-agents.ts';

afterEach(() => vi.restoreAllMocks());

function testAgents(): TestAgents {
  const context = {
    settings: { stt: [], models: { agent: null, turbo: null, concurrency: 4 } },
    limits: withLimits(edgeLimits, {}),
    log: createLog({ level: 'info', form: null }, { write: () => undefined }),
    metrics: new Metrics(),
    current: new CurrentConfig(),
    controlUrl: 'http://127.0.0.1:1',
    edgeToken: 'token',
    privateAuthority: null,
    tracing: null,
  };
  return new TestAgents(context, {} as TextToSpeech, {} as Gate);
}

it('agents of test runs that are loaded while the edge closes are closed, too', async () => {
  const closed = vi.spyOn(TwoStageDetectors.prototype, 'close');
  const agents = testAgents();
  const loading = agents.deps();
  await agents.close();
  expect(closed).toHaveBeenCalledOnce();
  await expect(loading).resolves.toBeDefined();
});

it('none are loaded once the edge has closed', async () => {
  const agents = testAgents();
  await agents.close();
  await expect(agents.deps()).rejects.toThrow('the edge is closing');
});
