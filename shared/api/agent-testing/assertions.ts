/** Assertions: checks on a conversation (contract 6.3). */
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { Closed, Integer, List, Nullable, OneOf, Open, Text, Uuid } from '#shared/api/common.ts';

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
  output_type: Optional(OneOf(['boolean', 'score', 'categorical'], 'Default: boolean')),
  threshold: Optional(Share()),
  pass_on_true: Optional(Type.Boolean()),
  categories: Optional(List(Text(1, 200), 2, 20)),
  pass_categories: Optional(List(Text(1, 200), 1, 20)),
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
const Negatable = { not: Optional(Type.Boolean({ description: 'The opposite must hold' })) };
const Scalar = () => Type.Union([Text(0, 2000), Type.Number(), Type.Boolean()]);

export const LlmJudgeConfig = Closed({ ...Negatable, prompt: Text(1, 10_000), ...Reading });
export const ServiceToneConfig = Closed({
  ...Negatable,
  threshold: Optional(Share()),
  dimensions: Optional(
    Type.Array(OneOf(toneDimensions), { minItems: 1, maxItems: toneDimensions.length, uniqueItems: true }),
  ),
  rubric: Optional(Text(1, 10_000, 'Statements that rules decide, one a line; all there is without a model')),
});
export const VariableExtractedConfig = Closed({
  ...Negatable,
  variable_name: Text(1, 128),
  expected_value: Optional(Scalar()),
  match: Optional(OneOf(['equals', 'contains', 'regex'], 'Default: equals')),
});
export const NodeReachedConfig = Closed({ ...Negatable, node_id: NodeId() });
export const NodesVisitedConfig = Closed({
  ...Negatable,
  node_ids: List(NodeId(), 1, 50),
  mode: Optional(OneOf(['all', 'any'], 'Default: all')),
  ordered: Optional(Type.Boolean()),
});
export const WebhookTriggeredConfig = Closed({
  ...Negatable,
  node_id: Optional(NodeId()),
  url: Optional(Text(1, 2000, 'Exact, or a prefix that ends in *')),
  min_calls: Optional(Integer(1, 100)),
  body_match: Optional(Open()),
});
export const RegexMatchConfig = Closed({
  ...Negatable,
  pattern: Text(1, 500, 'RE2 syntax: linear time, no back-references'),
  flags: Optional(Type.String({ maxLength: 4, pattern: '^[imsu]*$' })),
  target: Optional(Target()),
  negate: Optional(Type.Boolean()),
});
export const StringCheckConfig = Closed({
  ...Negatable,
  value: Text(1, 2000),
  operator: Optional(OneOf(['equals', 'contains', 'starts_with', 'ends_with'], 'Default: contains')),
  case_sensitive: Optional(Type.Boolean()),
  target: Optional(Target()),
  negate: Optional(Type.Boolean()),
});
export const CustomLlmConfig = Closed({
  ...Negatable,
  system_prompt: Text(1, 10_000),
  model: Optional(Text(1, 100)),
  ...Reading,
});
export const TraversalMatchConfig = Closed({
  ...Negatable,
  reference_path: List(NodeId(), 1, 100),
  mode: Optional(OneOf(['exact', 'subsequence', 'similarity'], 'Default: subsequence')),
  threshold: Optional(Share()),
});

export const ToolCalledConfig = Closed({
  ...Negatable,
  name: Text(1, 200),
  min_calls: Optional(Integer(1, 100)),
  max_calls: Optional(Integer(0, 100)),
  input_match: Optional(Open()),
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
  measure: OneOf(measures),
  min: Optional(Bound()),
  max: Optional(Bound()),
});
export const HeardWordsConfig = Closed({
  ...Negatable,
  values: Optional(List(Text(1, 200, 'A number or a name'), 1, 50)),
  threshold: Optional(Share()),
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
  name: Optional(Nullable(Text(0, 200))),
  is_required: Optional(Type.Boolean()),
  weight: Optional(Type.Number({ minimum: 0, maximum: 100 })),
  order: Optional(Integer(0, 1_000_000)),
};

/** One assertion of each type; `more` is added to each. */
function items<P extends TProperties>(more: P) {
  const item = <T extends AssertionType, C extends TObject>(type: T, config: C) =>
    Closed({ ...more, ...common, type: Type.Literal(type), config });
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
export const AssertionUpdate = items({ id: Optional(Uuid()) });
export type AssertionUpdate = Static<typeof AssertionUpdate>;

/** As configured, and as interpreted. */
export const AssertionView = Type.Object({
  id: text,
  type: OneOf(assertionTypes),
  name: Nullable(text),
  config: Open(),
  is_required: Type.Boolean(),
  weight: Type.Number(),
  order: Type.Integer(),
});
export type AssertionView = Static<typeof AssertionView>;

export const EvidenceView = Type.Object({
  turn: Type.Integer({ description: '0-based index in chat_history' }),
  quote: text,
});

export const AssertionResultView = Type.Object({
  assertion_id: text,
  type: OneOf(assertionTypes),
  name: Nullable(text),
  status: OneOf(['PASSED', 'FAILED', 'INCONCLUSIVE', 'ERROR']),
  passed: Type.Boolean(),
  score: Share(),
  weight: Type.Number(),
  is_required: Type.Boolean(),
  reasoning: text,
  evidence: Type.Array(EvidenceView),
  target: Nullable(text),
  expected: Nullable(text),
});
export type AssertionResultView = Static<typeof AssertionResultView>;
