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
import { described } from '#shared/described.ts';
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
  role: OneOf(['user', 'assistant'], '`user` is the caller'),
  content: Text(1, 4000, 'What is said'),
  node_id: Optional(Nullable(Text(1, 128), 'Node that said it; null: none')),
});
export type InputMessage = Static<typeof InputMessage>;

/** Fields that cloning a template also sets. */
export const clonable = {
  description: Optional(Nullable(Text(0, 2000), 'What it tests; null: nothing is said of it')),
  tester_persona_prompt: Optional(
    Nullable(
      Text(0, 20_000),
      'Who the caller is and what it does; null: a cooperative caller with an ordinary request',
    ),
  ),
  max_turns: Optional(Integer(1, 50, 'Most moves of the caller; default: 20')),
  request_data: Optional(Nullable(Open(), 'Variables for the agent; null: none')),
  start_node_id: Optional(Nullable(Text(1, 128), 'Node at which the agent begins; null: its start node')),
  service_tone_enabled: Optional(
    Type.Boolean({ description: 'Whether the tone of the agent is scored; default: false' }),
  ),
  is_required_for_promotion: Optional(
    Type.Boolean({ description: 'Whether the gate of publishing needs it to pass; default: false' }),
  ),
  promotion_repeats: Optional(
    Integer(1, 20, 'How many runs with different seeds the gate wants to have passed; default: 1'),
  ),
};

/** The scenario's subject: exactly one of them. */
export const subject = {
  pathway_id: Optional(Uuid('Pathway that is tested; exactly one of these ids')),
  persona_id: Optional(Uuid('Persona that is tested; exactly one of these ids')),
};

/** The same, or an agent that is not ours. */
export const anySubject = {
  ...subject,
  agent_id: Optional(Uuid('Agent of others that is tested; exactly one of these ids')),
};

const settable = {
  ...clonable,
  category: Optional(described(CategoryInput(), 'Kind of caller; default: CUSTOM')),
  scenario_type: Optional(
    OneOf(
      scenarioTypes,
      'AGENT: a simulated caller talks; REPLAY: given lines are said; HISTORICAL: a given conversation is judged; default: AGENT',
    ),
  ),
  tester_persona_name: Optional(Nullable(Text(0, 100), 'Name of the caller; null: none')),
  enabled: Optional(Type.Boolean({ description: 'Whether the gate and tornado use it; default: true' })),
  input_messages: Optional(
    Nullable(
      List(InputMessage, 0, 200),
      'Lines of the caller, or the whole conversation, by `scenario_type`; null: none',
    ),
  ),
  advanced_instructions: Optional(
    Nullable(Text(0, 10_000), 'Added to the prompt of a caller that a model plays; null: nothing'),
  ),
  metadata: Optional(
    Nullable(
      Open(),
      'Free-form; `mocks`, `allow_real_requests`, `facts`, `variation` and `call` have a meaning; null: none',
    ),
  ),
};

export const ScenarioCreate = Closed({
  ...anySubject,
  ...settable,
  name: Text(1, 200, 'Unique within the pathway, persona or agent'),
  assertions: Optional(List(AssertionCreate, 0, 50, 'What decides whether a run passes')),
});
export type ScenarioCreate = Static<typeof ScenarioCreate>;

export const ScenarioUpdate = Closed({
  ...settable,
  name: Optional(Text(1, 200, 'Unique within the pathway, persona or agent')),
  assertions: Optional(List(AssertionUpdate, 0, 50, 'Replaces all; an `id` keeps an assertion')),
});
export type ScenarioUpdate = Static<typeof ScenarioUpdate>;

export const scenarioFields = {
  id: Type.String({ description: 'Id of the scenario' }),
  org_id: Type.String({ description: 'Id of the organization' }),
  pathway_id: Nullable(text, 'Pathway that is tested; null: something else is'),
  persona_id: Nullable(text, 'Persona that is tested; null: something else is'),
  agent_id: Nullable({ ...text, description: 'Agent of others that is tested; null: something else is' }),
  name: Type.String({ description: 'Its name' }),
  description: Nullable(text, 'What it tests; null: nothing is said of it'),
  category: OneOf(categories, 'Kind of caller'),
  scenario_type: OneOf(
    scenarioTypes,
    'AGENT: a simulated caller talks; REPLAY: given lines are said; HISTORICAL: a given conversation is judged',
  ),
  tester_persona_prompt: Nullable(text, 'Who the caller is and what it does; null: a cooperative caller'),
  tester_persona_name: Nullable(text, 'Name of the caller; null: none'),
  max_turns: Type.Integer({ description: 'Most moves of the caller' }),
  request_data: Nullable(Open(), 'Variables for the agent; null: none'),
  start_node_id: Nullable(text, 'Node at which the agent begins; null: its start node'),
  service_tone_enabled: Type.Boolean({ description: 'Whether the tone of the agent is scored' }),
  is_required_for_promotion: Type.Boolean({ description: 'Whether the gate of publishing needs it to pass' }),
  promotion_repeats: Type.Integer({
    description: 'How many runs with different seeds the gate wants to have passed',
  }),
  enabled: Type.Boolean({ description: 'Whether the gate and tornado use it' }),
  input_messages: Nullable(
    Type.Array(
      Type.Object({
        role: OneOf(['user', 'assistant'], '`user` is the caller'),
        content: Type.String({ description: 'What is said' }),
        node_id: Optional(Nullable(text, 'Node that said it; null: none')),
      }),
    ),
    'Lines of the caller, or the whole conversation; null: none',
  ),
  advanced_instructions: Nullable(text, 'Added to the prompt of a caller that a model plays; null: nothing'),
  metadata: Nullable(Open(), 'Free-form settings; null: none'),
  assertions: Type.Array(AssertionView, { maxItems: 50, description: 'In their order' }),
  created_at: Iso('When it was created'),
  updated_at: Iso('When it was changed last'),
};
const Scenario = Type.Object(scenarioFields);
export type Scenario = Static<typeof Scenario>;

export const ScenarioAnswer = Testing(scenarioFields);

export const ScenarioQuery = Type.Object({
  pathway_id: Optional(Uuid('Only scenarios of this pathway')),
  persona_id: Optional(Uuid('Only scenarios of this persona')),
  agent_id: Optional(Uuid('Only scenarios of this agent of others')),
  category: Optional(described(CategoryInput(), 'Only scenarios of this category')),
  enabled: Optional(Type.Boolean({ description: 'Only enabled ones, or only others' })),
  ...PageQuery(500, 500).properties,
});
export type ScenarioQuery = Static<typeof ScenarioQuery>;

export const runStatuses = ['PENDING', 'RUNNING', 'PASSED', 'FAILED', 'ERROR', 'CANCELLED'] as const;
export type RunStatus = (typeof runStatuses)[number];

const RecentRun = Type.Object({
  id: Type.String({ description: 'Id of the run' }),
  status: OneOf(runStatuses, 'Where it is, or how it ended'),
  score: Nullable(Type.Number(), 'Its overall score, 0 to 1; null: nothing was scored'),
  completed_at: Nullable(Iso(), 'When it ended; null: it has not'),
});
const ListedScenario = ListItem({
  ...scenarioFields,
  most_recent_run: Nullable(RecentRun, 'The newest run of the scenario as it is; null: there is none'),
});
export type ListedScenario = Static<typeof ListedScenario>;
export const ScenarioList = Testing({
  scenarios: Type.Array(ListedScenario, { description: 'Newest first' }),
});

export const ScenarioPath = PathId('id', 'Id of the scenario');
