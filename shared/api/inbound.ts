/** Inbound numbers (contract section 10). */
import { type Static, Type } from 'typebox';
import { CallLimitsUpdate, CallLimitsView } from '#shared/api/call-limits.ts';
import {
  BooleanOrText,
  Closed,
  Integer,
  Iso,
  List,
  ListItem,
  Matching,
  Nullable,
  OneOf,
  Open,
  PageQuery,
  PathId,
  Success,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { KeyTerms } from '#shared/api/key-terms.ts';
import { RealtimeAgentChoice } from '#shared/api/realtime.ts';
import { RecordingSettings, RecordingSettingsView } from '#shared/api/recordings.ts';
import { mostKeyTerms } from '#shared/key-terms.ts';

const Optional = Type.Optional;
const Clearable = <T extends Parameters<typeof Nullable>[0]>(schema: T, description?: string) =>
  Optional(Nullable(schema, description));

/** An integer, `production` or `staging` (contract 9.1). */
export const PathwayVersionChoice = Type.Union([
  Integer(0, 2_147_483_647),
  Type.Literal('production'),
  Type.Literal('staging'),
]);

/** A transfer target of contract section 4: E.164, an extension, or a SIP URI. */
export const TransferTarget = Text(1, 512);

export const LanguageTag = Matching('^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$', 'a language tag such as en-US', {
  maxLength: 64,
});

export const ToolId = Matching(
  '^(TL-)?[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
  'the id of a tool, TL- and a uuid',
);

/** The writable fields; null clears. */
export const InboundUpdate = Closed({
  prompt: Clearable(
    Text(1, 20_000),
    'What the agent is to do, in words; one source of an agent at most; null: none',
  ),
  pathway_id: Clearable(
    Type.Union([Uuid(), Type.Literal('')]),
    'Pathway that answers; one source of an agent at most; null or empty: none',
  ),
  pathway_version: Clearable(
    PathwayVersionChoice,
    'Version of the pathway: a number, 0 for the live graph, `production` or `staging`; null: production',
  ),
  start_node_id: Clearable(Text(1, 128), 'Node at which the pathway begins; null: its start node'),
  persona_id: Clearable(Uuid(), 'Persona that answers; one source of an agent at most; null: none'),
  stream_url: Clearable(
    Text(1, 2048, 'wss:// URL of a server that is the agent; one source of an agent at most; null: none'),
  ),
  realtime: Clearable(
    RealtimeAgentChoice,
    'Model that hears and speaks; one source of an agent at most; null: none',
  ),
  first_sentence: Clearable(Text(0, 1000), 'Template that is spoken first; null: what the agent says'),
  wait_for_greeting: Clearable(
    BooleanOrText(),
    'Whether the agent waits until the caller has spoken; null: false',
  ),
  block_interruptions: Clearable(
    BooleanOrText(),
    'Whether the caller cannot interrupt the agent; null: false',
  ),
  ignore_button_press: Clearable(BooleanOrText(), 'Whether keys of the caller are ignored; null: false'),
  voice: Clearable(Text(1, 100), 'Name of a voice; null: that of the deployment'),
  voice_id: Clearable(Text(1, 100), 'The same as `voice`; null: as that'),
  model: Clearable(OneOf(['base', 'turbo']), 'Language model of the deployment; null: base'),
  language: Clearable(LanguageTag, 'Language of the conversation; null: en-US'),
  temperature: Clearable(
    Type.Number({ minimum: 0, maximum: 1 }),
    'Temperature of the language model; null: 0.7',
  ),
  interruption_threshold: Clearable(Integer(0, 5000, 'Speech that interrupts the agent, ms; null: 500')),
  timezone: Clearable(Text(1, 64), 'Zone of dates and times; null: America/Los_Angeles'),
  max_duration: Clearable(Integer(1, 720, 'Longest call, minutes; null: 30')),
  transfer_phone_number: Clearable(
    TransferTarget,
    'Target of transfers: E.164, an extension or a SIP URI; null: none',
  ),
  transfer_list: Clearable(
    Type.Record(Type.String(), TransferTarget, { maxProperties: 50 }),
    'Targets of transfers by name; null: none',
  ),
  fallback_number: Clearable(
    TransferTarget,
    'Takes the call when the agent cannot start or is lost; null: none',
  ),
  tools: Clearable(List(ToolId, 0, 50), 'Ids of tools that the agent may use; null: none'),
  request_data: Clearable(Open(), 'Variables of the conversation; null: none'),
  metadata: Clearable(Open(), 'Stored with the calls, sent to nobody; null: none'),
  webhook: Clearable(Text(1, 2048, 'https:// URL that gets call.completed; null: that of the organization')),
  label: Clearable(Text(0, 200), 'For people; null: none'),

  call_limits: Clearable(CallLimitsUpdate, 'For outgoing calls; replaces the previous value; null: none'),

  recording: Clearable(RecordingSettings, 'Whether its calls are recorded; null: as the organization'),
  key_terms: Clearable(KeyTerms, 'Names and words that callers are likely to say; null: none'),
});
export type InboundUpdate = Static<typeof InboundUpdate>;

const numberFields = {
  phone_number: Type.String({ description: 'E.164 with plus' }),
  label: Nullable(Type.String(), 'For people; null: none'),
  source: OneOf(['sip', 'ported', 'provisioned'], 'How the organization came to hold it'),
  created_at: Iso('When it was added'),
  updated_at: Iso('When it was changed last'),
  prompt: Nullable(Type.String(), 'What the agent is to do, in words; null: another agent'),
  pathway_id: Nullable(Type.String(), 'Pathway that answers; null: another agent'),
  pathway_version: Nullable(PathwayVersionChoice, 'Version of the pathway; null: production'),
  start_node_id: Nullable(Type.String(), 'Node at which the pathway begins; null: its start node'),
  persona_id: Nullable(Type.String(), 'Persona that answers; null: another agent'),
  stream_url: Nullable(Type.String(), 'Server that is the agent; null: another agent'),
  realtime: Nullable(RealtimeAgentChoice, 'Model that hears and speaks; null: another agent'),
  first_sentence: Nullable(Type.String(), 'Template that is spoken first; null: what the agent says'),
  wait_for_greeting: Type.Boolean({ description: 'Whether the agent waits until the caller has spoken' }),
  block_interruptions: Type.Boolean({ description: 'Whether the caller cannot interrupt the agent' }),
  ignore_button_press: Type.Boolean({ description: 'Whether keys of the caller are ignored' }),
  voice: Nullable(Type.String(), 'Name of a voice; null: that of the deployment'),
  voice_id: Nullable(Type.String(), 'The same as `voice`; null: as that'),
  model: Type.String({ description: 'Language model of the deployment' }),
  language: Type.String({ description: 'Language of the conversation' }),
  temperature: Type.Number({ description: 'Temperature of the language model, 0 to 1' }),
  interruption_threshold: Type.Integer({ description: 'Speech that interrupts the agent, ms' }),
  timezone: Type.String({ description: 'Zone of dates and times' }),
  max_duration: Type.Integer({ description: 'Longest call, minutes' }),
  transfer_phone_number: Nullable(Type.String(), 'Target of transfers; null: none'),
  transfer_list: Nullable(
    Type.Record(Type.String(), Type.String()),
    'Targets of transfers by name; null: none',
  ),
  fallback_number: Nullable(
    Type.String(),
    'Takes the call when the agent cannot start or is lost; null: none',
  ),
  tools: Type.Array(Type.String(), { maxItems: 50, description: 'Ids of tools that the agent may use' }),
  request_data: Open('Variables of the conversation'),
  metadata: Open('Stored with the calls, sent to nobody'),
  webhook: Nullable(Type.String(), 'URL that gets call.completed; null: that of the organization'),
  call_limits: Nullable(CallLimitsView, 'Limits of its outgoing calls; null: none of its own'),
  recording: Nullable(RecordingSettingsView, 'Whether its calls are recorded; null: as the organization'),
  key_terms: Type.Array(Type.String(), {
    maxItems: mostKeyTerms,
    description: 'Names and words that callers are likely to say',
  }),
};
export const InboundNumber = Type.Object(numberFields);
export type InboundNumber = Static<typeof InboundNumber>;

export const InboundNumberList = Type.Object({
  inbound_numbers: Type.Array(ListItem(numberFields), { description: 'By number' }),
});
export const InboundQuery = PageQuery(500, 500);

export const InboundUpdated = Success({
  message: Type.String({ description: 'Says what happened, for people' }),
  updates: Type.Record(Type.String(), Type.Unknown(), {
    description: 'The changed fields; cleared ones are null',
  }),
});

export const InboundPath = PathId('phone_number', 'E.164 number, with or without plus');
