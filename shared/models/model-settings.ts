/** The settings of language models, the same in both programs; see docs/models.md. */
import { SettingError, type SettingReader } from '#shared/settings/reader.ts';

type AgentName = 'LLM_BASE_URL' | 'LLM_API_KEY' | 'LLM_MODEL' | 'LLM_TURBO_MODEL' | 'LLM_CONCURRENCY';
type TestName = 'LLM_TEST_BASE_URL' | 'LLM_TEST_API_KEY' | 'LLM_CALLER_MODEL' | 'LLM_JUDGE_MODEL';

export interface ModelServer {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
}

/** null: no language model is configured for that role. */
export interface AgentModelSettings {
  readonly agent: ModelServer | null;
  readonly turbo: ModelServer | null;
  /** Requests at a time. */
  readonly concurrency: number;
}

export interface TestModelSettings {
  readonly caller: ModelServer | null;
  readonly judge: ModelServer | null;
}

/** @throws SettingError */
export function readAgentModels(read: SettingReader<AgentName>): AgentModelSettings {
  const baseUrl = serverUrl(read, 'LLM_BASE_URL');
  const concurrency = read.integer('LLM_CONCURRENCY', 1, 10_000);
  if (baseUrl === null) return { agent: null, turbo: null, concurrency };
  const model = read.optional('LLM_MODEL');
  if (model === null) throw new SettingError('LLM_MODEL must be set when LLM_BASE_URL is');
  const agent = { baseUrl, apiKey: read.optional('LLM_API_KEY'), model };
  return { agent, turbo: { ...agent, model: read.optional('LLM_TURBO_MODEL') ?? model }, concurrency };
}

/**
 * The test server has the roles whose model is set; the agents' server, if there is one, has the others.
 * @throws SettingError
 */
export function readTestModels(read: SettingReader<TestName>, agent: ModelServer | null): TestModelSettings {
  const baseUrl = serverUrl(read, 'LLM_TEST_BASE_URL');
  const apiKey = read.optional('LLM_TEST_API_KEY');
  const caller = read.optional('LLM_CALLER_MODEL');
  const judge = read.optional('LLM_JUDGE_MODEL');
  if (baseUrl !== null && caller === null && judge === null) {
    throw new SettingError('LLM_CALLER_MODEL or LLM_JUDGE_MODEL must be set when LLM_TEST_BASE_URL is');
  }
  const role = (model: string | null): ModelServer | null => {
    if (baseUrl !== null && model !== null) return { baseUrl, apiKey, model };
    return agent && { ...agent, model: model ?? agent.model };
  };
  return { caller: role(caller), judge: role(judge) };
}

function serverUrl<Name extends string>(read: SettingReader<Name>, name: Name): string | null {
  const url = read.url(name);
  if (url === null || URL.canParse(url)) return url;
  throw new SettingError(`${name} must be a URL, not "${url}"`);
}
