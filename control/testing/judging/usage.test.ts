import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DialogueQuestion } from '#shared/agent/dialogue.ts';
import { systemClock } from '#shared/clock.ts';
import { createModels, type Models } from '#shared/models/models.ts';
import { usageSum } from '#shared/usage-sum.ts';
import { assertion, conversation, judgeSaying } from '../../../test/kit/control/agent-testing.ts';
import { ModelServer } from '../../../test/kit/fakes/model-server.ts';
import { evaluateAssertions } from './assertions/evaluate.ts';
import { modelJudge } from './model-judge.ts';
import { RunUsage } from './usage.ts';

let server: ModelServer;
let models: Models;

beforeEach(async () => {
  server = await ModelServer.start();
  const named = (model: string) => ({ baseUrl: server.url, apiKey: null, model });
  const settings = {
    agent: named('talker'),
    turbo: named('quick'),
    caller: null,
    judge: named('judge-1'),
    concurrency: 4,
  };
  models = createModels(settings, { clock: systemClock, random: () => 0.5 });
});
afterEach(() => server.close());

const prices = {
  currency: 'EUR',
  models: [
    { model: 'talker', input: 2, output: 10 },
    { model: 'judge-1', input: 1, output: 1 },
  ],
};

const question: DialogueQuestion = {
  system: 'Talk.',
  authored: '',
  messages: [{ role: 'user', text: 'Hi' }],
  tools: [],
  temperature: null,
  signal: new AbortController().signal,
};

async function said(counted: Models): Promise<string> {
  const { dialogue } = counted.agent({ onFailure: 'reject' });
  let text = '';
  for await (const part of dialogue.reply(question)) if (part.type === 'text') text += part.text;
  return text;
}

describe('what a run used', () => {
  it('is what the servers answered, streamed or not, by role and model, at the organization’s prices', async () => {
    const usage = new RunUsage(prices);
    const counted = models.counted(usage.count);
    server.record({ text: ['Good ', 'day.'], usage: { input: 1000, output: 100 } });
    server.record({ text: ['yes'], usage: { input: 3000, output: 20 } });
    expect(await said(counted)).toBe('Good day.');
    await counted.judge?.text({ system: 'Judge.', messages: [{ role: 'user', text: '?' }] });
    expect(usage.view()).toEqual({
      models: [
        { role: 'agent', model: 'talker', requests: 1, input_tokens: 1000, output_tokens: 100, cost: 0.003 },
        {
          role: 'judge',
          model: 'judge-1',
          requests: 1,
          input_tokens: 3000,
          output_tokens: 20,
          cost: 0.00302,
        },
      ],
      input_tokens: 4000,
      output_tokens: 120,
      cost: 0.00602,
      currency: 'EUR',
      unknown: [],
    });
    expect(usage.tokens('agent')).toBe(1100);
    expect(usage.cost('agent')).toBe(0.003);
  });

  it('is not counted for another run of the same models', async () => {
    const [one, other] = [new RunUsage(prices), new RunUsage(prices)];
    models.counted(other.count);
    server.record({ text: ['Hello.'], usage: { input: 7, output: 3 } });
    await said(models.counted(one.count));
    expect([one.tokens('run'), other.tokens('run')]).toEqual([10, 0]);
  });

  it('is not known when an answer is cut off, or a server is silent about it', async () => {
    const usage = new RunUsage(prices);
    const rest = Promise.withResolvers<void>();
    server.record({ text: ['Good ', rest.promise] });
    const { dialogue } = models.counted(usage.count).agent({ onFailure: 'reject' });
    for await (const part of dialogue.reply(question)) {
      expect(part).toEqual({ type: 'text', text: 'Good ' });
      // Who is interrupted listens no further.
      break;
    }
    rest.resolve();
    expect(usage.view().cost).toBeNull();
    expect(usage.view().unknown).toEqual([
      expect.stringContaining('The tokens of 1 of 1 request of the agent to model talker are not known'),
    ]);
  });

  it('has no cost without a price, and says for which model', () => {
    const usage = new RunUsage({ currency: 'EUR', models: [] });
    usage.add('agent', { model: 'talker', input_tokens: 5, output_tokens: 5 });
    expect(usage.tokens('run')).toBe(10);
    expect(usage.cost('run')).toBe("The organization's model_prices have no price for model talker.");
    expect(new RunUsage(null).view()).toMatchObject({ models: [], cost: 0, currency: null, unknown: [] });
  });

  it('is summed over runs without mixing currencies or hiding what is unknown', () => {
    const run = (cost: number | null, currency: string | null) => ({
      input_tokens: 10,
      output_tokens: 1,
      cost,
      currency,
    });
    expect(usageSum([run(0.1, 'EUR'), run(0.2, 'EUR'), run(null, 'EUR'), null])).toEqual({
      input_tokens: 30,
      output_tokens: 3,
      cost: 0.3,
      currency: 'EUR',
      runs_without_cost: 2,
    });
    expect(usageSum([run(0.1, 'EUR'), run(0.2, 'USD')])).toMatchObject({ cost: null, runs_without_cost: 2 });
    expect(usageSum([run(0, null), run(0.2, 'USD')])).toMatchObject({ cost: 0.2, currency: 'USD' });
  });
});

describe('MEASUREMENT of tokens and money', () => {
  const evaluated = async (measure: string, max: number, usage?: RunUsage) => {
    const judging = { judge: judgeSaying({}), seed: 1, ...(usage && { spent: usage }) };
    const [result] = await evaluateAssertions(
      [assertion('MEASUREMENT', { measure, max })],
      conversation(),
      judging,
    );
    return result;
  };

  it('passes up to the most that was allowed', async () => {
    const usage = new RunUsage(prices);
    usage.add('agent', { model: 'talker', input_tokens: 1000, output_tokens: 100 });
    usage.add('judge', { model: 'judge-1', input_tokens: 50, output_tokens: 0 });
    expect(await evaluated('agent_tokens', 1100, usage)).toMatchObject({ status: 'PASSED' });
    expect(await evaluated('agent_tokens', 1099, usage)).toMatchObject({
      status: 'FAILED',
      reasoning: 'agent_tokens is 1100, wanted at most 1099.',
    });
    expect(await evaluated('run_tokens', 1149, usage)).toMatchObject({ status: 'FAILED' });
    expect(await evaluated('agent_cost', 0.003, usage)).toMatchObject({ status: 'PASSED' });
    expect(await evaluated('run_cost', 0.003, usage)).toMatchObject({ status: 'FAILED' });
  });

  it('is inconclusive, with a sentence, when usage or price is unknown', async () => {
    const usage = new RunUsage(null);
    usage.add('agent', { model: 'talker', input_tokens: 1, output_tokens: 1 });
    expect(await evaluated('agent_tokens', 2, usage)).toMatchObject({ status: 'PASSED' });
    expect(await evaluated('agent_cost', 2, usage)).toMatchObject({
      status: 'INCONCLUSIVE',
      reasoning: expect.stringContaining('no price for model talker'),
    });
    usage.lacks('agent', 'Nobody tells.');
    expect(await evaluated('agent_tokens', 2, usage)).toMatchObject({
      status: 'INCONCLUSIVE',
      reasoning: 'Nobody tells.',
    });
    expect(await evaluated('run_tokens', 2)).toMatchObject({ status: 'INCONCLUSIVE' });
  });

  it('counts the judge of assertions that come after it', async () => {
    const usage = new RunUsage(prices);
    const { judge } = models.counted(usage.count);
    if (!judge) throw new Error('a judge is configured');
    const verdict = { reasoning: 'It did.', evidence: [], verdict: true };
    server.record({ text: [JSON.stringify(verdict)], usage: { input: 500, output: 50 } });
    const assertions = [
      assertion('MEASUREMENT', { measure: 'run_tokens', max: 549 }, { order: 0 }),
      assertion('LLM_JUDGE', { prompt: 'Did it?' }, { order: 1 }),
    ];
    const judging = { judge: modelJudge(judge, () => null), seed: 1, spent: usage };
    const results = await evaluateAssertions(assertions, conversation(), judging);
    expect(results.map(({ type, status }) => [type, status])).toEqual([
      ['MEASUREMENT', 'FAILED'],
      ['LLM_JUDGE', 'PASSED'],
    ]);
  });
});
