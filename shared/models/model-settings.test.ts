import { describe, expect, it } from 'vitest';
import { SettingError, settingReader } from '#shared/settings/reader.ts';
import { readAgentModels, readTestModels } from './model-settings.ts';

function read(env: Record<string, string>) {
  const reader = settingReader('control', env);
  const agents = readAgentModels(reader);
  return { ...agents, ...readTestModels(reader, agents.agent) };
}

const own = { LLM_BASE_URL: 'https://a.example.com', LLM_API_KEY: 'key-a', LLM_MODEL: 'm' };
const agent = { baseUrl: 'https://a.example.com', apiKey: 'key-a', model: 'm' };

describe('settings of language models', () => {
  it('configure no model by default', () => {
    expect(read({})).toEqual({
      agent: null,
      turbo: null,
      caller: null,
      judge: null,
      concurrency: 64,
    });
  });

  it('default to the agent’s for every role', () => {
    expect(read({ ...own, LLM_TURBO_MODEL: 'fast', LLM_JUDGE_MODEL: 'wise' })).toMatchObject({
      agent,
      turbo: { ...agent, model: 'fast' },
      caller: agent,
      judge: { ...agent, model: 'wise' },
    });
  });

  it('send the agent’s key to no other server', () => {
    const judge = { LLM_TEST_BASE_URL: 'https://b.example.com', LLM_JUDGE_MODEL: 'm' };
    expect(read({ ...own, ...judge }).judge).toEqual({
      baseUrl: 'https://b.example.com',
      apiKey: null,
      model: 'm',
    });
    expect(read({ ...own, ...judge, LLM_TEST_API_KEY: 'key-b' }).judge?.apiKey).toBe('key-b');
  });

  it('can configure a judge only', () => {
    const judge = { LLM_TEST_BASE_URL: 'https://b.example.com', LLM_JUDGE_MODEL: 'wise' };
    expect(read(judge)).toMatchObject({ agent: null, caller: null, judge: { model: 'wise', apiKey: null } });
    expect(read({ ...own, ...judge }).caller).toEqual(agent);
  });

  it.each([
    [{ LLM_BASE_URL: 'https://a.example.com' }, 'LLM_MODEL must be set when LLM_BASE_URL is'],
    [{ ...own, LLM_BASE_URL: 'a.example.com' }, 'LLM_BASE_URL must be a URL'],
    [{ ...own, LLM_BASE_URL: 'https://' }, 'LLM_BASE_URL must be a URL'],
    [{ ...own, LLM_CONCURRENCY: '0' }, 'LLM_CONCURRENCY must be a whole number from 1 to 10000'],
    [{ LLM_TEST_BASE_URL: 'https://b.example.com' }, 'LLM_CALLER_MODEL or LLM_JUDGE_MODEL must be set when'],
  ])('are rejected when invalid: %o', (env, message) => {
    expect(() => read(env)).toThrow(SettingError);
    expect(() => read(env)).toThrow(message);
  });
});
