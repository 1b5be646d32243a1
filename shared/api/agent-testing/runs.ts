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
import { described } from '#shared/described.ts';
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
  version_number: Optional(
    Integer(0, 2_147_483_647, 'Version to test; 0 is the live graph; default: that in production'),
  ),
  webhook_url: Optional(Text(1, 2000, 'https:// URL that gets an event at the end')),
  seed: Optional(
    Integer(
      0,
      2_147_483_647,
      'The same seed gives the same conversation with a caller and an agent by rules; default: random',
    ),
  ),
};

export const RunStart = Closed({
  ...starting,
  request_data_override: Optional(Open("Replaces members of the scenario's `request_data`")),
  transport: Optional(OneOf(['text', 'sip'], 'sip: over a call; default: text')),
  phone_number: Optional(PhoneNumber('Inbound number that is called; required with transport sip')),
  weather: Optional(described(Weather, 'Noise, loss and more; default: that of the scenario')),
});
export type RunStart = Static<typeof RunStart>;
export const RunStarted = Testing({
  run_id: Type.String({ description: 'Id of the run' }),
  status: OneOf(['PENDING', 'RUNNING'], 'RUNNING: it has begun; PENDING: it waits for its turn'),
});

export const RunQuery = Type.Object({
  scenario_id: Optional(Uuid('Only runs of this scenario')),
  pathway_id: Optional(Uuid('Only runs of this pathway')),
  persona_id: Optional(Uuid('Only runs of this persona')),
  agent_id: Optional(Uuid('Only runs of this agent of others')),
  batch_id: Optional(Uuid('Only runs of this batch')),
  status: Optional(OneOf(runStatuses, 'Only runs with this status')),
  limit: Optional(Integer(1, 100, 'Most entries of a page; default: 50')),
  offset: Optional(Integer(0, 1_000_000_000, 'How many entries to skip')),
});
export type RunQuery = Static<typeof RunQuery>;

const runRowFields = {
  id: Type.String({ description: 'Id of the run' }),
  scenario_id: Type.String({ description: 'Id of its scenario' }),
  pathway_id: Nullable(text, 'Pathway that is tested; null: something else is'),
  persona_id: Nullable(text, 'Persona that is tested; null: something else is'),
  agent_id: Nullable(text, 'Agent of others that is tested; null: something else is'),
  batch_id: Nullable(text, 'Its batch; null: it is in none'),
  status: OneOf(runStatuses, 'Where it is, or how it ended'),
  overall_score: described(
    Share,
    "Weighted mean of the assertions' scores, 0 to 1; null: nothing was scored",
  ),
  turn_count: Type.Integer({ description: 'Moves of the caller' }),
  duration_ms: Nullable(Type.Integer(), 'Length of the conversation, ms; null: it has not ended'),
  created_at: Iso('When it was created'),
  as_is: Type.Boolean({
    description: 'Whether it is of the scenario as it is: rates of versions and the gate count it',
  }),
  scenario: Type.Object(
    {
      id: Type.String({ description: 'Id of the scenario' }),
      name: Type.String({ description: 'Name of the scenario' }),
    },
    { description: 'Its scenario, as it was when the run was created' },
  ),
  usage: Nullable(Usage, 'Tokens and cost; null: before its end, and of a cancelled run'),
  assertion_results: Type.Array(AssertionResultView, {
    maxItems: 50,
    description: 'In the order of the assertions',
  }),
};
export const RunRowView = Type.Object(runRowFields);
export type RunRowView = Static<typeof RunRowView>;
/** A run in a list or batch. */
export const RunLine = ListItem(runRowFields);
export const RunList = Testing({
  runs: Type.Array(RunLine, { description: 'Newest first' }),
  total_count: Type.Integer({ description: 'How many there are on all pages' }),
});

const Evaluator = Type.Object({
  provider: Type.String({ description: 'Provider of the model, or `rules`' }),
  model: Type.String({ description: 'The model' }),
  deterministic: Type.Boolean({ description: 'Whether it always does the same with the same seed' }),
});

const Tone = Type.Object({
  ...(Object.fromEntries(
    toneDimensions.map((dimension) => [
      dimension,
      Type.Number({ description: 'Score of this dimension, 0 to 1' }),
    ]),
  ) as Record<(typeof toneDimensions)[number], ReturnType<typeof Type.Number>>),
  overall_tone_score: Type.Number({ description: 'Mean of the dimensions, 0 to 1' }),
  issues: Type.Array(text, { description: 'What could be better, in sentences' }),
  examples: Type.Array(EvidenceView, { description: 'Lines that show it' }),
});
export type Tone = Static<typeof Tone>;

const Voice = Type.Object({
  call_id: Nullable({
    ...text,
    description: "The agent's end of the call, in the call log; null: it is not here, or was never created",
  }),
  caller_call_id: Nullable({
    ...text,
    description: "The simulated caller's end; null: it was never created",
  }),
  sip_call_id: Nullable(text, "Call-ID of the agent's end; null: there is none"),
  set_up_ms: Optional(
    Nullable(Type.Integer({ description: 'From the INVITE to the answer, ms; null: not answered' })),
  ),
  answered_at: Optional(Nullable(Iso(), "When the agent's end was answered; null: it was not")),
  ended_at: Optional(Nullable(Iso(), "When the agent's end was over; null: it is not")),
  codec: Nullable(text, 'Codec of the call; null: it was not answered'),
  turns: Type.Array(
    Type.Object({
      turn: Type.Integer({ description: 'Number of the move' }),
      response_latency_ms: Nullable(
        Type.Integer(),
        "From the end of the caller's words to the agent's first sound, ms; null: no sound",
      ),
      agent_at_ms: Optional(
        Nullable(
          Type.Integer({ description: "From the answer to the agent's first sound, ms; null: no sound" }),
        ),
      ),
      caller_at_ms: Optional(
        Nullable(
          Type.Integer({ description: "From the answer to the caller's move, ms; null: none was made" }),
        ),
      ),
      speech_ms: Type.Integer({ description: "Length of the agent's speech without pauses, ms" }),
      silence_ms: Type.Integer({ description: 'Pauses of the agent, longer than within a sentence, ms' }),
      barge_in: Type.Boolean({ description: "The caller's move began while the agent spoke" }),
      silent_after_ms: Nullable(
        Type.Integer({ description: 'Of such a move: until the agent was silent; null: it never was' }),
      ),
      overlap_ms: Type.Integer({ description: 'Both spoke' }),
      transcript_source: OneOf(
        ['agent_log', 'transcription'],
        "Where the agent's words in the conversation come from",
      ),
    }),
    { description: 'One for each move of the caller; turn 0 is before the first' },
  ),
  latency_ms: Type.Object(
    {
      p50: Nullable(Type.Integer(), 'Median; null: no answer'),
      p95: Nullable(Type.Integer(), 'Percentile 95; null: no answer'),
      max: Nullable(Type.Integer(), 'Longest; null: no answer'),
    },
    { description: 'Over all answers after the first move, ms' },
  ),
  first_audio_ms: Nullable(
    Type.Integer({ description: 'From the answer to the first sound of the agent, ms; null: no sound' }),
  ),
  longest_silence_ms: Nullable(Type.Integer(), 'Longest silence of the agent, ms; null: none'),
  overlap_ms: Type.Integer({ description: 'Time in which both spoke, ms' }),
  media: Nullable(MediaReport, "Audio at the agent's end; null: not measured"),
  caller_media: Nullable(MediaReport, "Audio at the caller's end; null: not measured"),
  dtmf_sent: Type.Array(text, { description: 'Keys that the agent sent, in order' }),
  weather: Optional(
    Type.Object(
      {
        asked: described(Weather, 'As the run or the scenario asked for it'),
        done: described(WeatherReport, "What it did to the caller's packets"),
      },
      {
        description: 'Of a call with weather: what was asked for, and what was done to the sound and packets',
      },
    ),
  ),
});
export type Voice = Static<typeof Voice>;

const runFields = {
  ...runRowFields,
  simulation_set_id: Nullable(text, 'Its simulation set; null: it is in none'),
  tornado_session_id: Nullable(text, 'Its tornado session; null: it is in none'),
  version_number: Type.Integer({ description: 'Version that was tested; 0 is the live graph' }),
  content_hash: Type.String({ description: 'SHA-256 of the tested content, hexadecimal' }),
  chat_history: Type.Array(
    Type.Object({
      role: OneOf(['user', 'assistant'], '`user` is the caller'),
      content: Type.String({ description: 'What was said' }),
      turn: Type.Integer({ description: 'Move of the caller; 0: before the first' }),
      node_id: Nullable(text, 'Node that said it; null: the caller, or a persona'),
    }),
    { description: 'What was said, in order' },
  ),
  variables_extracted: Open('Variables at the end'),
  nodes_visited: Type.Array(text, { description: 'Ids in order, repeats kept' }),
  current_node_id: Nullable(text, 'Where the conversation ended; null: no node'),
  webhook_calls: Type.Array(
    Type.Object({
      node_id: Type.String({ description: 'Node that sent it' }),
      url: Type.String({ description: 'Where it went' }),
      method: Type.String({ description: 'HTTP method' }),
      status_code: Nullable(Type.Integer(), 'Status of the answer; null: there was none'),
      at: Iso('When it was sent'),
      body: Nullable(text, 'Its body; null: none'),
      response: Type.Unknown({ description: 'Body of the answer' }),
      mocked: Type.Boolean({ description: 'Nothing left the program: a mock or a dry run answered' }),
    }),
    { description: 'Requests of Webhook nodes, in order' },
  ),
  tool_calls: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Name of the tool' }),
      node_id: Nullable(text, 'Node that used it; null: no node'),
      input: Type.Unknown({ description: 'Inputs of the tool' }),
      ok: Type.Boolean({ description: 'Whether it succeeded' }),
      result: Type.Unknown({ description: 'What the agent got' }),
      at: Iso('When it was used'),
      mocked: Type.Boolean({ description: 'Whether a mock answered, so that nothing left the service' }),
    }),
    { description: 'Uses of tools, in order' },
  ),
  service_tone_score: Nullable(
    Tone,
    'Scores of the tone; null: not asked for, or a dimension could not be judged',
  ),
  reasoning: Nullable(text, 'Why the run ended as it did; null: nothing to say'),
  evaluator: Type.Object(
    {
      caller: described(Evaluator, 'The simulated caller'),
      agent: described(Evaluator, 'The tested agent'),
      judge: described(Evaluator, 'What decided the assertions'),
    },
    { description: 'What played which part' },
  ),
  seed: Type.Integer({ description: 'Seed of the run' }),
  trigger_source: OneOf(triggerSources, 'What started it; more values may be added'),
  error_message: Nullable(text, 'Why it ended with an error; null: it did not'),
  started_at: Nullable(Iso(), 'When it began; null: it waits'),
  completed_at: Nullable(Iso(), 'When it ended; null: it has not'),

  record_deleted_at: Nullable(
    Iso(),
    "When the conversation's content was deleted; the verdict stays; null: it is kept",
  ),
  transport: OneOf(['text', 'sip'], '`sip`: over a call'),
  voice: Nullable(Voice, 'What the call was like; null: the run is in text'),
  marks: Type.Array(
    Type.Object({
      at_ms: Type.Integer({ description: 'From the answer, at which the recording begins, ms' }),
      assertion_id: Type.String({ description: 'Id of the assertion' }),
      name: Nullable(text, 'Name of the assertion; null: none'),
      type: Type.String({ description: 'Type of the assertion' }),
      status: Type.String({ description: 'Status of its result' }),
      line: Type.Integer({ description: 'Index in chat_history' }),
    }),
    { maxItems: 200, description: 'Of a run over a call: where its verdicts have their evidence' },
  ),
};
const Run = Type.Object(runFields);
export type Run = Static<typeof Run>;
export const RunAnswer = Testing({ ...runFields, omitted: OmittedParts });
/** As its webhook has it (contract 13). */
export const SentRun = Type.Object({ ...runFields, omitted: OmittedParts });
export const RunPath = PathId('id', 'Id of the run');
export const RunCancelled = Testing({
  id: Type.String({ description: 'Id of the run' }),
  status: Type.Literal('CANCELLED', { description: 'Always CANCELLED' }),
  cancelled: Type.Literal(true, { description: 'Always true' }),
});

export const suggestionTypes = ['prompt_change', 'node_config', 'flow_change', 'tone_improvement'] as const;
const Analysis = Type.Object({
  root_cause_class: OneOf(['harness', 'model', 'prompt', 'flow', 'data'], 'Where the fault lies'),
  root_cause: Type.String({ description: 'The cause in a sentence' }),
  suggestions: Type.Array(
    Type.Object({
      type: OneOf(suggestionTypes, 'What to change'),
      target_node_id: Nullable(text, 'Node to change; null: no single one'),
      target_node_name: Nullable(text, 'Its name; null: no single one'),
      description: Type.String({ description: 'What is wrong' }),
      suggested_change: Type.String({ description: 'What to do' }),
      confidence: Type.Number({ minimum: 0, maximum: 1, description: 'How certain it is, 0 to 1' }),
    }),
    { description: 'The most confident first, 20 at most' },
  ),
  node_id_to_name: Type.Record(text, text, { description: 'Names of the nodes by id' }),
});
export type Analysis = Static<typeof Analysis>;
export const RunAnalysis = Testing({ analysis: described(Analysis, 'The stored analysis') });
