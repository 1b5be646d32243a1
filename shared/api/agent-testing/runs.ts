/** Runs of scenarios, and proposals for a failed one (contract 6.4 and 6.5). */
import { type Static, Type } from 'typebox';
import { Weather, WeatherReport } from '#shared/agent-test-weather.ts';
import {
  Closed,
  Integer,
  Iso,
  ListItem,
  Nullable,
  OmittedParts,
  OneOf,
  Open,
  PathId,
  PhoneNumber,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { MediaReport } from '#shared/edge-protocol/calls.ts';
import { AssertionResultView, EvidenceView, toneDimensions } from './assertions.ts';
import { runStatuses } from './scenarios.ts';
import { Usage } from './usage.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();
const Share = Nullable(Type.Number());

export const triggerSources = [
  'api',
  'dashboard',
  'ci',
  'promotion',
  'tornado',
  'simulation',
  'held_out',
  'load',
] as const;
export type TriggerSource = (typeof triggerSources)[number];

/** Members of every start request. */
export const starting = {
  version_number: Optional(Integer(0, 2_147_483_647)),
  webhook_url: Optional(Text(1, 2000)),
  seed: Optional(Integer(0, 2_147_483_647)),
};

export const RunStart = Closed({
  ...starting,
  request_data_override: Optional(Open()),
  transport: Optional(OneOf(['text', 'sip'], 'Default: text')),
  phone_number: Optional(PhoneNumber()),
  weather: Optional(Weather),
});
export type RunStart = Static<typeof RunStart>;
export const RunStarted = Testing({ run_id: text, status: OneOf(['PENDING', 'RUNNING']) });

export const RunQuery = Type.Object({
  scenario_id: Optional(Uuid()),
  pathway_id: Optional(Uuid()),
  persona_id: Optional(Uuid()),
  agent_id: Optional(Uuid()),
  batch_id: Optional(Uuid()),
  status: Optional(OneOf(runStatuses)),
  limit: Optional(Integer(1, 100, 'Default: 50')),
  offset: Optional(Integer(0, 1_000_000_000)),
});
export type RunQuery = Static<typeof RunQuery>;

const runRowFields = {
  id: text,
  scenario_id: text,
  pathway_id: Nullable(text),
  persona_id: Nullable(text),
  agent_id: Nullable(text),
  batch_id: Nullable(text),
  status: OneOf(runStatuses),
  overall_score: Share,
  turn_count: Type.Integer(),
  duration_ms: Nullable(Type.Integer()),
  created_at: Iso(),
  scenario: Type.Object({ id: text, name: text }),
  usage: Nullable(Usage),
  assertion_results: Type.Array(AssertionResultView, { maxItems: 50 }),
};
export const RunRowView = Type.Object(runRowFields);
export type RunRowView = Static<typeof RunRowView>;
/** A run in a list or batch. */
export const RunLine = ListItem(runRowFields);
export const RunList = Testing({ runs: Type.Array(RunLine), total_count: Type.Integer() });

const Evaluator = Type.Object({ provider: text, model: text, deterministic: Type.Boolean() });

const Tone = Type.Object({
  ...(Object.fromEntries(toneDimensions.map((dimension) => [dimension, Type.Number()])) as Record<
    (typeof toneDimensions)[number],
    ReturnType<typeof Type.Number>
  >),
  overall_tone_score: Type.Number(),
  issues: Type.Array(text),
  examples: Type.Array(EvidenceView),
});
export type Tone = Static<typeof Tone>;

const Voice = Type.Object({
  call_id: Nullable({ ...text, description: "The agent's end of the call, in the call log" }),
  caller_call_id: Nullable({ ...text, description: "The simulated caller's end" }),
  sip_call_id: Nullable(text),
  set_up_ms: Optional(Nullable(Type.Integer({ description: 'From the INVITE to the answer' }))),
  answered_at: Optional(Nullable(Iso())),
  ended_at: Optional(Nullable(Iso())),
  codec: Nullable(text),
  turns: Type.Array(
    Type.Object({
      turn: Type.Integer(),
      response_latency_ms: Nullable(Type.Integer()),
      agent_at_ms: Optional(
        Nullable(Type.Integer({ description: "From the answer to the agent's first sound" })),
      ),
      caller_at_ms: Optional(Nullable(Type.Integer({ description: "From the answer to the caller's move" }))),
      speech_ms: Type.Integer(),
      silence_ms: Type.Integer(),
      barge_in: Type.Boolean({ description: "The caller's move began while the agent spoke" }),
      silent_after_ms: Nullable(
        Type.Integer({ description: 'Of such a move: until the agent was silent; null: it never was' }),
      ),
      overlap_ms: Type.Integer({ description: 'Both spoke' }),
      transcript_source: OneOf(['agent_log', 'transcription']),
    }),
  ),
  latency_ms: Type.Object({
    p50: Nullable(Type.Integer()),
    p95: Nullable(Type.Integer()),
    max: Nullable(Type.Integer()),
  }),
  first_audio_ms: Nullable(Type.Integer({ description: 'From the answer to the first sound of the agent' })),
  longest_silence_ms: Nullable(Type.Integer()),
  overlap_ms: Type.Integer(),
  media: Nullable(MediaReport),
  caller_media: Nullable(MediaReport),
  dtmf_sent: Type.Array(text),
  weather: Optional(
    Type.Object(
      { asked: Weather, done: WeatherReport },
      {
        description: 'Of a call with weather: what was asked for, and what was done to the sound and packets',
      },
    ),
  ),
});
export type Voice = Static<typeof Voice>;

const runFields = {
  ...runRowFields,
  simulation_set_id: Nullable(text),
  tornado_session_id: Nullable(text),
  version_number: Type.Integer(),
  content_hash: text,
  chat_history: Type.Array(
    Type.Object({
      role: OneOf(['user', 'assistant']),
      content: text,
      turn: Type.Integer(),
      node_id: Nullable(text),
    }),
  ),
  variables_extracted: Open(),
  nodes_visited: Type.Array(text),
  current_node_id: Nullable(text),
  webhook_calls: Type.Array(
    Type.Object({
      node_id: text,
      url: text,
      method: text,
      status_code: Nullable(Type.Integer()),
      at: Iso(),
      body: Nullable(text),
      response: Type.Unknown(),
      mocked: Type.Boolean({ description: 'Nothing left the program: a mock or a dry run answered' }),
    }),
  ),
  tool_calls: Type.Array(
    Type.Object({
      name: text,
      node_id: Nullable(text),
      input: Type.Unknown(),
      ok: Type.Boolean(),
      result: Type.Unknown(),
      at: Iso(),
      mocked: Type.Boolean(),
    }),
  ),
  service_tone_score: Nullable(Tone),
  reasoning: Nullable(text),
  evaluator: Type.Object({ caller: Evaluator, agent: Evaluator, judge: Evaluator }),
  seed: Type.Integer(),
  trigger_source: OneOf(triggerSources),
  error_message: Nullable(text),
  started_at: Nullable(Iso()),
  completed_at: Nullable(Iso()),
  /** When the conversation's content was deleted; the verdict stays. */
  record_deleted_at: Nullable(Iso()),
  transport: OneOf(['text', 'sip']),
  voice: Nullable(Voice),
  marks: Type.Array(
    Type.Object({
      at_ms: Type.Integer({ description: 'From the answer, as the recording begins' }),
      assertion_id: text,
      name: Nullable(text),
      type: text,
      status: text,
      line: Type.Integer({ description: 'Index in chat_history' }),
    }),
    { maxItems: 200, description: 'Of a run over a call: where its verdicts have their evidence' },
  ),
};
const Run = Type.Object(runFields);
export type Run = Static<typeof Run>;
export const RunAnswer = Testing({ ...runFields, omitted: OmittedParts });
export const RunPath = PathId('id', 'Id of the run');
export const RunCancelled = Testing({
  id: text,
  status: Type.Literal('CANCELLED'),
  cancelled: Type.Literal(true),
});

export const suggestionTypes = ['prompt_change', 'node_config', 'flow_change', 'tone_improvement'] as const;
const Analysis = Type.Object({
  root_cause_class: OneOf(['harness', 'model', 'prompt', 'flow', 'data'], 'Where the fault lies'),
  root_cause: text,
  suggestions: Type.Array(
    Type.Object({
      type: OneOf(suggestionTypes),
      target_node_id: Nullable(text),
      target_node_name: Nullable(text),
      description: text,
      suggested_change: text,
      confidence: Type.Number({ minimum: 0, maximum: 1 }),
    }),
  ),
  node_id_to_name: Type.Record(text, text),
});
export type Analysis = Static<typeof Analysis>;
export const RunAnalysis = Testing({ analysis: Analysis });
