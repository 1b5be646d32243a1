/** Scenarios as written and read: defaults, aliases, consistency (contract 6.1). Pure. */
import type { AssertionUpdate, AssertionView } from '#shared/api/agent-testing/assertions.ts';
import type {
  Category,
  CategoryInput,
  ListedScenario,
  Scenario,
  ScenarioCreate,
  ScenarioType,
  ScenarioUpdate,
} from '#shared/api/agent-testing/scenarios.ts';
import { ApiError, type ErrorItem, errorItem } from '#shared/errors.ts';
import type { NewId } from '#shared/ids.ts';
import { fromJson, type TestAssertionRow, type TestScenarioRow, toJson } from '../../db/index.ts';
import { configProblems } from '../judging/assertions/evaluate.ts';
import { rounded } from '../judging/statistics.ts';
import { mockProblems } from '../mocks/declared.ts';

/** What a scenario tests. */
export type Subject =
  | { readonly kind: 'pathway'; readonly id: string }
  | { readonly kind: 'persona'; readonly id: string };

/** The same, or an agent that is not ours, whose inside nobody sees. */
export type AnySubject = Subject | { readonly kind: 'agent'; readonly id: string };

/**
 * @param begin of the place that an error names: `/` for a property of a body, `?` for a query parameter
 * @throws ApiError INVALID_PARAMETER unless exactly one of the two is given
 */
export function readSubject(
  { pathway_id, persona_id }: { pathway_id?: string; persona_id?: string },
  begin: '/' | '?' = '/',
): Subject {
  if (pathway_id !== undefined && persona_id === undefined) return { kind: 'pathway', id: pathway_id };
  if (persona_id !== undefined && pathway_id === undefined) return { kind: 'persona', id: persona_id };
  throw ApiError.invalid(`${begin}pathway_id`, 'exactly one of pathway_id and persona_id must be given');
}

/** @throws ApiError INVALID_PARAMETER unless exactly one of the three is given */
export function readAnySubject(body: {
  pathway_id?: string;
  persona_id?: string;
  agent_id?: string;
}): AnySubject {
  const { agent_id, pathway_id, persona_id } = body;
  if (agent_id === undefined) return readSubject(body);
  if (pathway_id === undefined && persona_id === undefined) return { kind: 'agent', id: agent_id };
  throw ApiError.invalid('/agent_id', 'exactly one of pathway_id, persona_id and agent_id must be given');
}

export function readCategory(category: CategoryInput): Category {
  return category === 'VOICEMAIL_SCREENER' ? 'CALL_SCREENER' : category;
}

const flag = (value: boolean) => (value ? 1 : 0);
const json = <T>(value: T | null) => (value === null ? null : toJson(value));

export type ScenarioContent = Omit<
  TestScenarioRow,
  'id' | 'org_id' | 'pathway_id' | 'persona_id' | 'agent_id' | 'created_at' | 'updated_at' | 'deleted_at'
>;

/** A new scenario with defaults applied. @throws ApiError INVALID_PARAMETER */
export function newContent(body: ScenarioCreate): ScenarioContent {
  const content: ScenarioContent = {
    name: body.name,
    description: null,
    category: 'CUSTOM',
    scenario_type: 'AGENT',
    tester_persona_prompt: null,
    tester_persona_name: null,
    max_turns: 20,
    request_data: null,
    start_node_id: null,
    service_tone_enabled: 0,
    is_required_for_promotion: 0,
    promotion_repeats: 1,
    enabled: 1,
    input_messages: null,
    advanced_instructions: null,
    metadata: null,
    ...changedContent(body),
  };
  checkMessages(content);
  return content;
}

/** The columns that a write sets; omitted ones are absent. @throws ApiError INVALID_PARAMETER */
export function changedContent(body: ScenarioUpdate): Partial<ScenarioContent> {
  const { name, description, tester_persona_prompt, tester_persona_name, max_turns, scenario_type } = body;
  const { start_node_id, advanced_instructions } = body;
  checkMocks(body.metadata ?? null);
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(body.category !== undefined && { category: readCategory(body.category) }),
    ...(scenario_type !== undefined && { scenario_type }),
    ...(tester_persona_prompt !== undefined && { tester_persona_prompt }),
    ...(tester_persona_name !== undefined && { tester_persona_name }),
    ...(max_turns !== undefined && { max_turns }),
    ...(start_node_id !== undefined && { start_node_id }),
    ...(advanced_instructions !== undefined && { advanced_instructions }),
    ...(body.request_data !== undefined && { request_data: json(body.request_data) }),
    ...(body.input_messages !== undefined && { input_messages: json(body.input_messages) }),
    ...(body.metadata !== undefined && { metadata: json(body.metadata) }),
    ...(body.service_tone_enabled !== undefined && { service_tone_enabled: flag(body.service_tone_enabled) }),
    ...(body.is_required_for_promotion !== undefined && {
      is_required_for_promotion: flag(body.is_required_for_promotion),
    }),
    ...(body.promotion_repeats !== undefined && { promotion_repeats: body.promotion_repeats }),
    ...(body.enabled !== undefined && { enabled: flag(body.enabled) }),
  };
}

/** @throws ApiError INVALID_PARAMETER with every problem */
function checkMocks(metadata: ScenarioUpdate['metadata']): void {
  const problems = mockProblems(metadata ?? null).slice(0, 20);
  const [first, ...others] = problems.map(({ path, rule }) => problem(path, rule));
  if (first) throw ApiError.many([first, ...others]);
}

/** A replay needs words of the caller, a historical conversation needs any words. @throws ApiError INVALID_PARAMETER */
export function checkMessages(content: Pick<TestScenarioRow, 'scenario_type' | 'input_messages'>): void {
  const { scenario_type: type } = content;
  if (type === 'AGENT') return;
  const messages =
    content.input_messages === null ? [] : fromJson<{ role: string }[]>(content.input_messages);
  const usable = type === 'REPLAY' ? messages.filter(({ role }) => role === 'user') : messages;
  if (usable.length > 0) return;
  const rule =
    type === 'REPLAY' ? 'REPLAY needs at least one user message' : 'HISTORICAL needs at least one message';
  throw ApiError.invalid('/input_messages', rule);
}

/**
 * The rows of a scenario's assertions.
 * @param known ids of the scenario's existing assertions; only these may be kept
 * @throws ApiError INVALID_PARAMETER with every problem
 */
export function assertionRows(
  scenarioId: string,
  assertions: readonly AssertionUpdate[],
  known: ReadonlySet<string>,
  newId: NewId,
): TestAssertionRow[] {
  const problems = assertionProblems(assertions, known);
  const [first, ...others] = problems.slice(0, 20);
  if (first) throw ApiError.many([first, ...others]);
  return assertions.map((assertion, place) => ({
    id: assertion.id ?? newId(),
    scenario_id: scenarioId,
    type: assertion.type,
    name: assertion.name ?? null,
    config: toJson(assertion.config),
    is_required: flag(assertion.is_required ?? true),
    weight: assertion.weight ?? 1,
    position: assertion.order ?? place,
    place,
  }));
}

function assertionProblems(assertions: readonly AssertionUpdate[], known: ReadonlySet<string>): ErrorItem[] {
  const used = new Set<string>();
  return assertions.flatMap((assertion, index) => {
    const at = `/assertions/${index}`;
    const found = configProblems(assertion).map(({ path, rule }) => problem(`${at}/config${path}`, rule));
    const { id } = assertion;
    if (id !== undefined) {
      if (!known.has(id)) found.push(problem(`${at}/id`, 'must be an assertion of the scenario'));
      else if (used.has(id)) found.push(problem(`${at}/id`, 'must not be used twice'));
      used.add(id);
    }
    return found;
  });
}

function problem(path: string, rule: string): ErrorItem {
  return errorItem('INVALID_PARAMETER', { path, rule }, `${path}: ${rule}`);
}

export function assertionView(row: TestAssertionRow): AssertionView {
  return {
    id: row.id,
    type: row.type as AssertionView['type'],
    name: row.name,
    config: fromJson<Record<string, unknown>>(row.config),
    is_required: row.is_required === 1,
    weight: row.weight,
    order: row.position,
  };
}

export function scenarioView(row: TestScenarioRow, assertions: readonly TestAssertionRow[]): Scenario {
  const { deleted_at: _, category, scenario_type, ...rest } = row;
  return {
    ...rest,
    category: category as Category,
    scenario_type: scenario_type satisfies ScenarioType,
    request_data: row.request_data === null ? null : fromJson(row.request_data),
    input_messages:
      row.input_messages === null
        ? null
        : fromJson<NonNullable<Scenario['input_messages']>>(row.input_messages),
    metadata: row.metadata === null ? null : fromJson(row.metadata),
    service_tone_enabled: row.service_tone_enabled === 1,
    is_required_for_promotion: row.is_required_for_promotion === 1,
    enabled: row.enabled === 1,
    assertions: assertions.map(assertionView),
  };
}

/** The newest run of a scenario, as the list shows it. */
export function recentRun(
  row: { id: string; status: string; overall_score: number | null; completed_at: string | null } | null,
): ListedScenario['most_recent_run'] {
  if (!row) return null;
  const { id, status, overall_score, completed_at } = row;
  return {
    id,
    status: status as NonNullable<ListedScenario['most_recent_run']>['status'],
    score: rounded(overall_score),
    completed_at,
  };
}

/** The first free name of `name`, `name (2)`, `name (3)` …, cut to 200 characters. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : ` (${number})`;
    const candidate = name.slice(0, 200 - suffix.length) + suffix;
    if (!taken.has(candidate)) return candidate;
  }
}
