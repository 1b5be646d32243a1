/** Assertions: checks on a conversation (contract 6.3). */
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { Closed, Integer, List, Nullable, OneOf, Open, Text, Uuid } from '#shared/api/common.ts';
import { described } from '#shared/described.ts';

const Optional = Type.Optional;
const text = Type.String();
const Share = () => Type.Number({ minimum: 0, maximum: 1 });

export const toneDimensions = [
  'naturalness',
  'conciseness',
  'empathy',
  'flow_preservation',
  'back_channeling',
  'topic_transitions',
] as const;
export type ToneDimension = (typeof toneDimensions)[number];

/** How the answer of a judge is interpreted. */
const Reading = {
  output_type: Optional(
    OneOf(['boolean', 'score', 'categorical'], 'How the judge answers; default: boolean'),
  ),
  threshold: Optional(described(Share(), 'With `score`: least score that passes, 0 to 1; default: 0.7')),
  pass_on_true: Optional(
    Type.Boolean({ description: 'With `boolean`: whether the verdict true passes; default: true' }),
  ),
  categories: Optional(List(Text(1, 200), 2, 20, 'With `categorical`: what the judge may answer')),
  pass_categories: Optional(List(Text(1, 200), 1, 20, 'With `categorical`: those of `categories` that pass')),
};

const NodeId = () => Text(1, 128);
const Target = () =>
  Type.String({
    minLength: 1,
    maxLength: 138,
    pattern: '^(transcript|agent|user|variables\\.[^\\u0000]{1,128})$',
    description: '`transcript` (default), `agent`, `user` or `variables.<name>`',
  });
/** Of every type: what would pass fails, and what would fail passes. */
const Negatable = {
  not: Optional(Type.Boolean({ description: 'Whether the opposite must hold; default: false' })),
};
const Scalar = () => Type.Union([Text(0, 2000), Type.Number(), Type.Boolean()]);

export const LlmJudgeConfig = Closed({
  ...Negatable,
  prompt: Text(1, 10_000, 'What the judge decides'),
  ...Reading,
});
export const ServiceToneConfig = Closed({
  ...Negatable,
  threshold: Optional(described(Share(), 'Least mean of the dimensions that passes, 0 to 1; default: 0.7')),
  dimensions: Optional(
    Type.Array(OneOf(toneDimensions), {
      minItems: 1,
      maxItems: toneDimensions.length,
      uniqueItems: true,
      description: 'What the judge scores; default: all',
    }),
  ),
  rubric: Optional(Text(1, 10_000, 'Statements that rules decide, one a line; all there is without a model')),
});
export const VariableExtractedConfig = Closed({
  ...Negatable,
  variable_name: Text(1, 128, 'Variable that the agent must have set'),
  expected_value: Optional(
    described(Scalar(), 'Value that it must have; without it any value that is not empty passes'),
  ),
  match: Optional(OneOf(['equals', 'contains', 'regex'], 'How the value is compared; default: equals')),
});
export const NodeReachedConfig = Closed({
  ...Negatable,
  node_id: described(NodeId(), 'Node that must have been visited'),
});
export const NodesVisitedConfig = Closed({
  ...Negatable,
  node_ids: List(NodeId(), 1, 50, 'Nodes that must have been visited'),
  mode: Optional(OneOf(['all', 'any'], 'Whether all or any must be visited; default: all')),
  ordered: Optional(
    Type.Boolean({ description: 'Whether they must be visited in this order; default: false' }),
  ),
});
export const WebhookTriggeredConfig = Closed({
  ...Negatable,
  node_id: Optional(described(NodeId(), 'Only webhooks of this node count')),
  url: Optional(Text(1, 2000, 'Exact, or a prefix that ends in *')),
  min_calls: Optional(Integer(1, 100, 'Least number of matching requests; default: 1')),
  body_match: Optional(Open('Values that the JSON body must have, by dot path')),
});
export const RegexMatchConfig = Closed({
  ...Negatable,
  pattern: Text(1, 500, 'RE2 syntax: linear time, no back-references'),
  flags: Optional(
    Type.String({
      maxLength: 4,
      pattern: '^[imsu]*$',
      description: 'Flags of the pattern, of `i`, `m`, `s` and `u`',
    }),
  ),
  target: Optional(Target()),
  negate: Optional(Type.Boolean({ description: 'Whether a match fails; default: false' })),
});
export const StringCheckConfig = Closed({
  ...Negatable,
  value: Text(1, 2000, 'Text to look for'),
  operator: Optional(
    OneOf(['equals', 'contains', 'starts_with', 'ends_with'], 'How the text is compared; default: contains'),
  ),
  case_sensitive: Optional(Type.Boolean({ description: 'Whether case counts; default: false' })),
  target: Optional(Target()),
  negate: Optional(Type.Boolean({ description: 'Whether a match fails; default: false' })),
});
export const CustomLlmConfig = Closed({
  ...Negatable,
  system_prompt: Text(1, 10_000, 'What the judge is told instead of the instructions of the service'),
  model: Optional(Text(1, 100, "Name of the judge's model; another than that of the deployment gives ERROR")),
  ...Reading,
});
export const TraversalMatchConfig = Closed({
  ...Negatable,
  reference_path: List(NodeId(), 1, 100, 'Ids of the nodes that the path should have'),
  mode: Optional(
    OneOf(['exact', 'subsequence', 'similarity'], 'How the path is compared; default: subsequence'),
  ),
  threshold: Optional(
    described(Share(), 'With `similarity`: least similarity that passes, 0 to 1; default: 0.8'),
  ),
});

export const ToolCalledConfig = Closed({
  ...Negatable,
  name: Text(1, 200, 'Name of the tool'),
  min_calls: Optional(
    Integer(1, 100, 'Least number of matching calls; default: 1, or 0 when `max_calls` is 0'),
  ),
  max_calls: Optional(Integer(0, 100, 'Most matching calls; default: no limit')),
  input_match: Optional(Open('Values that the inputs must have, by dot path')),
  ok: Optional(Type.Boolean({ description: 'Whether the calls succeeded; default: either' })),
});
export const measures = [
  'latency_p50_ms',
  'latency_p95_ms',
  'latency_max_ms',
  'first_audio_ms',
  'barge_ins',
  'barge_in_stop_ms',
  'longest_silence_ms',
  'talk_over_ms',
  'turns',
  'agent_tokens',
  'agent_cost',
  'run_tokens',
  'run_cost',
] as const;
export type Measure = (typeof measures)[number];
const Bound = () => Type.Number({ minimum: 0, maximum: 1_000_000_000 });
export const MeasurementConfig = Closed({
  ...Negatable,
  measure: OneOf(measures, 'What is measured'),
  min: Optional(described(Bound(), 'Least value that passes')),
  max: Optional(described(Bound(), 'Highest value that passes')),
});
export const HeardWordsConfig = Closed({
  ...Negatable,
  values: Optional(
    List(
      Text(1, 200, 'A number or a name'),
      1,
      50,
      'What the agent must have said; default: all numbers and capitalized names that it said',
    ),
  ),
  threshold: Optional(described(Share(), 'Least share of them that must be heard, 0 to 1; default: 1')),
});

/** The configuration of each type. */
export interface AssertionConfigs {
  LLM_JUDGE: Static<typeof LlmJudgeConfig>;
  SERVICE_TONE: Static<typeof ServiceToneConfig>;
  VARIABLE_EXTRACTED: Static<typeof VariableExtractedConfig>;
  NODE_REACHED: Static<typeof NodeReachedConfig>;
  NODES_VISITED: Static<typeof NodesVisitedConfig>;
  WEBHOOK_TRIGGERED: Static<typeof WebhookTriggeredConfig>;
  REGEX_MATCH: Static<typeof RegexMatchConfig>;
  STRING_CHECK: Static<typeof StringCheckConfig>;
  CUSTOM_LLM: Static<typeof CustomLlmConfig>;
  TRAVERSAL_MATCH: Static<typeof TraversalMatchConfig>;
  TOOL_CALLED: Static<typeof ToolCalledConfig>;
  MEASUREMENT: Static<typeof MeasurementConfig>;
  HEARD_WORDS: Static<typeof HeardWordsConfig>;
}
export type AssertionType = keyof AssertionConfigs;

export const assertionTypes = [
  'LLM_JUDGE',
  'SERVICE_TONE',
  'VARIABLE_EXTRACTED',
  'NODE_REACHED',
  'NODES_VISITED',
  'WEBHOOK_TRIGGERED',
  'REGEX_MATCH',
  'STRING_CHECK',
  'CUSTOM_LLM',
  'TRAVERSAL_MATCH',
  'TOOL_CALLED',
  'MEASUREMENT',
  'HEARD_WORDS',
] as const satisfies readonly AssertionType[];

const common = {
  name: Optional(Nullable(Text(0, 200), 'Name that results show; null: none')),
  is_required: Optional(
    Type.Boolean({ description: 'Whether a run can pass only when this passes; default: true' }),
  ),
  weight: Optional(
    Type.Number({
      minimum: 0,
      maximum: 100,
      description: 'Weight in the overall score, 0 to 100; default: 1',
    }),
  ),
  order: Optional(Integer(0, 1_000_000, 'Place among the results; default: its place in the list')),
};

/** One assertion of each type; `more` is added to each. */
function items<P extends TProperties>(more: P) {
  const item = <T extends AssertionType, C extends TObject>(type: T, config: C) =>
    Closed({
      ...more,
      ...common,
      type: Type.Literal(type, { description: 'What is checked' }),
      config: described(config, 'Settings of this type'),
    });
  return Type.Union([
    item('LLM_JUDGE', LlmJudgeConfig),
    item('SERVICE_TONE', ServiceToneConfig),
    item('VARIABLE_EXTRACTED', VariableExtractedConfig),
    item('NODE_REACHED', NodeReachedConfig),
    item('NODES_VISITED', NodesVisitedConfig),
    item('WEBHOOK_TRIGGERED', WebhookTriggeredConfig),
    item('REGEX_MATCH', RegexMatchConfig),
    item('STRING_CHECK', StringCheckConfig),
    item('CUSTOM_LLM', CustomLlmConfig),
    item('TRAVERSAL_MATCH', TraversalMatchConfig),
    item('TOOL_CALLED', ToolCalledConfig),
    item('MEASUREMENT', MeasurementConfig),
    item('HEARD_WORDS', HeardWordsConfig),
  ]);
}

export const AssertionCreate = items({});
export type AssertionCreate = Static<typeof AssertionCreate>;
/** An `id` keeps the existing assertion of the scenario. */
export const AssertionUpdate = items({
  id: Optional(Uuid('Keeps the id of an assertion that the scenario has')),
});
export type AssertionUpdate = Static<typeof AssertionUpdate>;

/** As configured, and as interpreted. */
export const AssertionView = Type.Object({
  id: Type.String({ description: 'Id of the assertion' }),
  type: OneOf(assertionTypes, 'What is checked'),
  name: Nullable(text, 'Name that results show; null: none'),
  config: Open('Settings of its type'),
  is_required: Type.Boolean({ description: 'Whether a run can pass only when this passes' }),
  weight: Type.Number({ description: 'Weight in the overall score, 0 to 100' }),
  order: Type.Integer({ description: 'Place among the results' }),
});
export type AssertionView = Static<typeof AssertionView>;

export const EvidenceView = Type.Object({
  turn: Type.Integer({ description: '0-based index in chat_history' }),
  quote: Type.String({ description: 'Words from the conversation, literally' }),
});

export const AssertionResultView = Type.Object({
  assertion_id: Type.String({ description: 'Id of the assertion' }),
  type: OneOf(assertionTypes, 'What was checked'),
  name: Nullable(text, 'Its name; null: none'),
  status: OneOf(
    ['PASSED', 'FAILED', 'INCONCLUSIVE', 'ERROR'],
    'INCONCLUSIVE: there was no basis for a decision; ERROR: it could not be evaluated',
  ),
  passed: Type.Boolean({ description: 'Whether `status` is PASSED' }),
  score: described(Share(), '0 to 1; 0 when nothing was decided'),
  weight: Type.Number({ description: 'Weight in the overall score' }),
  is_required: Type.Boolean({ description: 'Whether the run could pass only when this passes' }),
  reasoning: Type.String({ description: 'Why, in a sentence' }),
  evidence: Type.Array(EvidenceView, { description: 'Where in the conversation the reason is' }),
  target: Nullable(text, 'What it looked at; null: nothing to name'),
  expected: Nullable(text, 'What it expected; null: nothing to name'),
});
export type AssertionResultView = Static<typeof AssertionResultView>;
