/** The settings of language models, the same in both programs; see docs/models.md. */
import { type Setting, SettingError, type settingReader } from '#shared/setting-reader.ts';

/** Settings of the models that speak for the deployment's agents. */
export const agentModelSettings = [
  {
    name: 'LLM_BASE_URL',
    default: '',
    description: "OpenAI-compatible server of the agents' language model. Unset: the embedded rules.",
  },
  { name: 'LLM_API_KEY', default: '', description: 'API key of LLM_BASE_URL.' },
  {
    name: 'LLM_MODEL',
    default: '',
    description: 'Model of agents; must be set when LLM_BASE_URL is.',
  },
  {
    name: 'LLM_TURBO_MODEL',
    default: 'LLM_MODEL',
    description: 'Model of agents whose model is turbo.',
  },
  {
    name: 'LLM_TIMEOUT_S',
    default: '10',
    description:
      'Seconds until the answer of a language model begins, retries included, and then between two parts of it.',
  },
  {
    name: 'LLM_MAX_RETRIES',
    default: '2',
    description: 'Retries after a network error, 408, 425, 429 or 5xx from a language model.',
  },
  { name: 'LLM_MAX_TOKENS', default: '1024', description: 'Tokens that one answer may have.' },
  {
    name: 'LLM_CONCURRENCY',
    default: '64',
    description: 'Requests to language models at a time; more wait.',
  },
] as const satisfies readonly Setting[];

/** Settings of the caller's and the judge's models in agent testing. */
export const testModelSettings = [
  {
    name: 'LLM_CALLER_BASE_URL',
    default: 'LLM_BASE_URL',
    description: 'Server of the model that plays the caller in tests.',
  },
  {
    name: 'LLM_CALLER_API_KEY',
    default: 'LLM_API_KEY',
    description: 'Its API key; LLM_API_KEY is only used for LLM_BASE_URL.',
  },
  { name: 'LLM_CALLER_MODEL', default: 'LLM_MODEL', description: 'Model that plays the caller.' },
  {
    name: 'LLM_JUDGE_BASE_URL',
    default: 'LLM_BASE_URL',
    description: 'Server of the model that judges tests.',
  },
  {
    name: 'LLM_JUDGE_API_KEY',
    default: 'LLM_API_KEY',
    description: 'Its API key; LLM_API_KEY is only used for LLM_BASE_URL.',
  },
  { name: 'LLM_JUDGE_MODEL', default: 'LLM_MODEL', description: 'Model that judges tests.' },
] as const satisfies readonly Setting[];

type AgentName = (typeof agentModelSettings)[number]['name'];
type TestName = (typeof testModelSettings)[number]['name'];
type Reader<Name extends string> = ReturnType<typeof settingReader<Name>>;

export interface ModelServer {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
}

export interface ModelLimits {
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly maxTokens: number;
  readonly concurrency: number;
}

/** null: no language model is configured for that role. */
export interface AgentModelSettings {
  readonly agent: ModelServer | null;
  readonly turbo: ModelServer | null;
  readonly limits: ModelLimits;
}

export interface TestModelSettings {
  readonly caller: ModelServer | null;
  readonly judge: ModelServer | null;
}

/** @throws SettingError */
export function readAgentModels(read: Reader<AgentName>): AgentModelSettings {
  const agent = server(read, 'LLM_BASE_URL', read.optional('LLM_API_KEY'), 'LLM_MODEL', null);
  const turbo = agent && { ...agent, model: read.optional('LLM_TURBO_MODEL') ?? agent.model };
  const limits = {
    timeoutMs: read.integer('LLM_TIMEOUT_S', 1, 300) * 1000,
    maxRetries: read.integer('LLM_MAX_RETRIES', 0, 10),
    maxTokens: read.integer('LLM_MAX_TOKENS', 16, 100_000),
    concurrency: read.integer('LLM_CONCURRENCY', 1, 10_000),
  };
  return { agent, turbo, limits };
}

/** @throws SettingError */
export function readTestModels(read: Reader<TestName>, agent: ModelServer | null): TestModelSettings {
  return {
    caller: server(
      read,
      'LLM_CALLER_BASE_URL',
      read.optional('LLM_CALLER_API_KEY'),
      'LLM_CALLER_MODEL',
      agent,
    ),
    judge: server(read, 'LLM_JUDGE_BASE_URL', read.optional('LLM_JUDGE_API_KEY'), 'LLM_JUDGE_MODEL', agent),
  };
}

/** Defaults are the agent's settings; but the agent's key is used only for the agent's server. */
function server<Name extends string>(
  read: Reader<Name>,
  url: Name,
  key: string | null,
  model: Name,
  agent: ModelServer | null,
): ModelServer | null {
  const own = read.url(url);
  const baseUrl = own ?? agent?.baseUrl ?? null;
  if (baseUrl === null) return null;
  if (!URL.canParse(baseUrl)) throw new SettingError(`${url} must be a URL, not "${baseUrl}"`);
  const name = read.optional(model) ?? agent?.model ?? null;
  if (name === null) throw new SettingError(`${model} must be set when ${url} is`);
  return { baseUrl, apiKey: key ?? (own === null ? (agent?.apiKey ?? null) : null), model: name };
}
