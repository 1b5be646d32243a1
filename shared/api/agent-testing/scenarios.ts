/** Scenarios: test cases of a pathway, a persona or an agent of others (contract 6.1). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  List,
  ListItem,
  Nullable,
  OneOf,
  Open,
  PageQuery,
  PathId,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { AssertionCreate, AssertionUpdate, AssertionView } from './assertions.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();

export const categories = [
  'VOICEMAIL',
  'CALL_SCREENER',
  'ANGRY_CALLER',
  'BELLIGERENT_CALLER',
  'CONFUSED_CALLER',
  'HAPPY_PATH',
  'EDGE_CASE',
  'CUSTOM',
] as const;
export type Category = (typeof categories)[number];

/** VOICEMAIL_SCREENER is read as CALL_SCREENER. */
export const CategoryInput = () => OneOf([...categories, 'VOICEMAIL_SCREENER'] as const);
export type CategoryInput = Category | 'VOICEMAIL_SCREENER';

export const scenarioTypes = ['AGENT', 'REPLAY', 'HISTORICAL'] as const;
export type ScenarioType = (typeof scenarioTypes)[number];

const InputMessage = Closed({
  role: OneOf(['user', 'assistant']),
  content: Text(1, 4000),
  node_id: Optional(Nullable(Text(1, 128))),
});
export type InputMessage = Static<typeof InputMessage>;

/** Fields that cloning a template also sets. */
export const clonable = {
  description: Optional(Nullable(Text(0, 2000))),
  tester_persona_prompt: Optional(Nullable(Text(0, 20_000))),
  max_turns: Optional(Integer(1, 50)),
  request_data: Optional(Nullable(Open())),
  start_node_id: Optional(Nullable(Text(1, 128))),
  service_tone_enabled: Optional(Type.Boolean()),
  is_required_for_promotion: Optional(Type.Boolean()),
  promotion_repeats: Optional(Integer(1, 20)),
};

/** The scenario's subject: exactly one of them. */
export const subject = { pathway_id: Optional(Uuid()), persona_id: Optional(Uuid()) };

/** The same, or an agent that is not ours. */
export const anySubject = { ...subject, agent_id: Optional(Uuid()) };

const settable = {
  ...clonable,
  category: Optional(CategoryInput()),
  scenario_type: Optional(OneOf(scenarioTypes, 'Default: AGENT')),
  tester_persona_name: Optional(Nullable(Text(0, 100))),
  enabled: Optional(Type.Boolean()),
  input_messages: Optional(Nullable(List(InputMessage, 0, 200))),
  advanced_instructions: Optional(Nullable(Text(0, 10_000))),
  metadata: Optional(Nullable(Open())),
};

export const ScenarioCreate = Closed({
  ...anySubject,
  ...settable,
  name: Text(1, 200),
  assertions: Optional(List(AssertionCreate, 0, 50)),
});
export type ScenarioCreate = Static<typeof ScenarioCreate>;

export const ScenarioUpdate = Closed({
  ...settable,
  name: Optional(Text(1, 200)),
  assertions: Optional(List(AssertionUpdate, 0, 50)),
});
export type ScenarioUpdate = Static<typeof ScenarioUpdate>;

export const scenarioFields = {
  id: text,
  org_id: text,
  pathway_id: Nullable(text),
  persona_id: Nullable(text),
  agent_id: Nullable({ ...text, description: 'An agent of others (6.13)' }),
  name: text,
  description: Nullable(text),
  category: OneOf(categories),
  scenario_type: OneOf(scenarioTypes),
  tester_persona_prompt: Nullable(text),
  tester_persona_name: Nullable(text),
  max_turns: Type.Integer(),
  request_data: Nullable(Open()),
  start_node_id: Nullable(text),
  service_tone_enabled: Type.Boolean(),
  is_required_for_promotion: Type.Boolean(),
  promotion_repeats: Type.Integer(),
  enabled: Type.Boolean(),
  input_messages: Nullable(
    Type.Array(
      Type.Object({ role: OneOf(['user', 'assistant']), content: text, node_id: Optional(Nullable(text)) }),
    ),
  ),
  advanced_instructions: Nullable(text),
  metadata: Nullable(Open()),
  assertions: Type.Array(AssertionView, { maxItems: 50 }),
  created_at: Iso(),
  updated_at: Iso(),
};
const Scenario = Type.Object(scenarioFields);
export type Scenario = Static<typeof Scenario>;

export const ScenarioAnswer = Testing(scenarioFields);

export const ScenarioQuery = Type.Object({
  pathway_id: Optional(Uuid()),
  persona_id: Optional(Uuid()),
  agent_id: Optional(Uuid()),
  category: Optional(CategoryInput()),
  enabled: Optional(Type.Boolean()),
  ...PageQuery(500, 500).properties,
});
export type ScenarioQuery = Static<typeof ScenarioQuery>;

export const runStatuses = ['PENDING', 'RUNNING', 'PASSED', 'FAILED', 'ERROR', 'CANCELLED'] as const;
export type RunStatus = (typeof runStatuses)[number];

const RecentRun = Type.Object({
  id: text,
  status: OneOf(runStatuses),
  score: Nullable(Type.Number()),
  completed_at: Nullable(Iso()),
});
const ListedScenario = ListItem({ ...scenarioFields, most_recent_run: Nullable(RecentRun) });
export type ListedScenario = Static<typeof ListedScenario>;
export const ScenarioList = Testing({ scenarios: Type.Array(ListedScenario) });

export const ScenarioPath = PathId('id', 'Id of the scenario');
