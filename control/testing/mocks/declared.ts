/**
 * The mocks that a scenario declares in its `metadata`:
 *
 *     { "mocks": [ { "node_id"?, "url"?, "method"?, "tool"?, "status"? = 200, "body"?, "variables"?, "responses"? } ],
 *       "allow_real_requests": true }
 *
 * `responses` are the answers to the first, second ... matching request; the last one answers all further ones.
 */
import { isObject } from '#shared/agent/graph-problem.ts';
import type { Variables } from '#shared/agent/interfaces.ts';

export interface MockResponse {
  /** 100..599 */
  readonly status: number;
  readonly body: unknown;
  readonly variables: Variables;
}

export interface Mock {
  readonly nodeId: string | null;
  /** Exact, or a prefix ending in `*`. */
  readonly url: string | null;
  readonly method: string | null;
  readonly tool: string | null;
  /** At least one. */
  readonly responses: readonly MockResponse[];
}

export interface Outside {
  readonly mocks: readonly Mock[];
  readonly allowReal: boolean;
}

export interface MockProblem {
  /** JSON pointer from the scenario. */
  readonly path: string;
  readonly rule: string;
}

type Metadata = Readonly<Record<string, unknown>> | null;

const mostMocks = 100;
const mostResponses = 50;
const selectors = ['node_id', 'url', 'method', 'tool'] as const;
const answers = ['status', 'body', 'variables'] as const;

/** What is wrong with a scenario's mocks: a mock that nobody reads would let a test pass on the wrong answers. */
export function mockProblems(metadata: Metadata): MockProblem[] {
  const at = '/metadata/mocks';
  const entries: unknown = metadata?.mocks;
  const real: unknown = metadata?.allow_real_requests;
  const flag = { path: '/metadata/allow_real_requests', rule: 'must be true or false' };
  const found = real === undefined || real === null || typeof real === 'boolean' ? [] : [flag];
  if (metadata?.mock !== undefined)
    found.push({ path: '/metadata/mock', rule: 'is unknown; mocks are in /metadata/mocks' });
  if (entries === undefined || entries === null) return found;
  if (!Array.isArray(entries) || entries.length > mostMocks) {
    return [...found, { path: at, rule: `must be an array of at most ${mostMocks}` }];
  }
  const mocks: unknown[] = entries;
  return [...found, ...mocks.flatMap((entry, index) => problemsOf(entry, `${at}/${index}`))];
}

function problemsOf(entry: unknown, at: string): MockProblem[] {
  if (!isObject(entry)) return [{ path: at, rule: 'must be an object' }];
  const found = [
    ...unknownKeys(entry, [...selectors, ...answers, 'responses'], at),
    ...selectors.flatMap((name) =>
      entry[name] === undefined || entry[name] === null || isText(entry[name])
        ? []
        : [{ path: `${at}/${name}`, rule: 'must be text' }],
    ),
    ...answerProblems(entry, at),
  ];
  const { responses } = entry;
  if (![entry.node_id, entry.url, entry.tool].some(isText))
    found.push({ path: at, rule: 'must name a node_id, a url or a tool' });
  if (isText(entry.tool) && (isText(entry.node_id) || isText(entry.url)))
    found.push({ path: `${at}/tool`, rule: 'cannot be combined with node_id or url, which are of webhooks' });
  if (responses === undefined || responses === null) return found;
  if (!Array.isArray(responses) || responses.length === 0 || responses.length > mostResponses) {
    return [...found, { path: `${at}/responses`, rule: `must be an array of 1 to ${mostResponses}` }];
  }
  if (answers.some((name) => entry[name] !== undefined))
    found.push({ path: `${at}/responses`, rule: 'replaces status, body and variables of the mock' });
  const list: unknown[] = responses;
  return [
    ...found,
    ...list.flatMap((response, index) => responseProblems(response, `${at}/responses/${index}`)),
  ];
}

function responseProblems(response: unknown, at: string): MockProblem[] {
  if (!isObject(response)) return [{ path: at, rule: 'must be an object' }];
  return [...unknownKeys(response, answers, at), ...answerProblems(response, at)];
}

function answerProblems({ status, variables }: Record<string, unknown>, at: string): MockProblem[] {
  const found: MockProblem[] = [];
  if (status !== undefined && status !== null && !isStatus(status))
    found.push({ path: `${at}/status`, rule: 'must be an integer from 100 to 599' });
  if (variables !== undefined && variables !== null && !isObject(variables))
    found.push({ path: `${at}/variables`, rule: 'must be an object' });
  return found;
}

function unknownKeys(entry: Record<string, unknown>, known: readonly string[], at: string): MockProblem[] {
  return Object.keys(entry)
    .filter((key) => !known.includes(key))
    .map((key) => ({ path: `${at}/${key}`, rule: `is unknown; a mock has ${known.join(', ')}` }));
}

/** The first node that is mocked and not there: its name is most often misspelt, and the real answer would be another. */
export function missingNode({ mocks }: Outside, nodes: ReadonlySet<unknown>): string | null {
  return mocks.find(({ nodeId }) => nodeId !== null && !nodes.has(nodeId))?.nodeId ?? null;
}

/** Reads a scenario's metadata. Invalid mocks, of scenarios that an earlier version wrote, are left out. */
export function outsideOf(metadata: Metadata): Outside {
  const entries: unknown = metadata?.mocks;
  return {
    mocks: Array.isArray(entries) ? entries.flatMap(readMock) : [],
    allowReal: metadata?.allow_real_requests === true,
  };
}

function readMock(entry: unknown): Mock[] {
  if (!isObject(entry)) return [];
  const text = (value: unknown) => (isText(value) ? value : null);
  const nodeId = text(entry.node_id);
  const url = text(entry.url);
  const tool = text(entry.tool);
  if (nodeId === null && url === null && tool === null) return [];
  const listed = Array.isArray(entry.responses) ? entry.responses.filter(isObject) : [];
  const responses = (listed.length > 0 ? listed : [entry]).map(responseOf);
  return [{ nodeId, url, tool, method: text(entry.method)?.toUpperCase() ?? null, responses }];
}

function responseOf({ body, status, variables }: Record<string, unknown>): MockResponse {
  return {
    status: isStatus(status) ? status : 200,
    body: body ?? null,
    variables: isObject(variables) ? variables : {},
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isStatus(status: unknown): status is number {
  return typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599;
}
