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
const Clearable = <T extends Parameters<typeof Nullable>[0]>(schema: T) => Optional(Nullable(schema));

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
  prompt: Clearable(Text(1, 20_000)),
  pathway_id: Clearable(Type.Union([Uuid(), Type.Literal('')])),
  pathway_version: Clearable(PathwayVersionChoice),
  start_node_id: Clearable(Text(1, 128)),
  persona_id: Clearable(Uuid()),
  stream_url: Clearable(Text(1, 2048, 'A wss:// URL')),
  realtime: Clearable(RealtimeAgentChoice),
  first_sentence: Clearable(Text(0, 1000)),
  wait_for_greeting: Clearable(BooleanOrText()),
  block_interruptions: Clearable(BooleanOrText()),
  ignore_button_press: Clearable(BooleanOrText()),
  voice: Clearable(Text(1, 100)),
  voice_id: Clearable(Text(1, 100)),
  model: Clearable(OneOf(['base', 'turbo'])),
  language: Clearable(LanguageTag),
  temperature: Clearable(Type.Number({ minimum: 0, maximum: 1 })),
  interruption_threshold: Clearable(Integer(0, 5000, 'ms')),
  timezone: Clearable(Text(1, 64)),
  max_duration: Clearable(Integer(1, 720, 'minutes')),
  transfer_phone_number: Clearable(TransferTarget),
  transfer_list: Clearable(Type.Record(Type.String(), TransferTarget, { maxProperties: 50 })),
  fallback_number: Clearable(TransferTarget),
  tools: Clearable(List(ToolId, 0, 50)),
  request_data: Clearable(Open()),
  metadata: Clearable(Open()),
  webhook: Clearable(Text(1, 2048, 'An https:// URL')),
  label: Clearable(Text(0, 200)),
  /** For outgoing calls; replaces the previous value. */
  call_limits: Clearable(CallLimitsUpdate),
  /** Of its calls; null: as the organization. */
  recording: Clearable(RecordingSettings),
  key_terms: Clearable(KeyTerms),
});
export type InboundUpdate = Static<typeof InboundUpdate>;

const numberFields = {
  phone_number: Type.String(),
  label: Nullable(Type.String()),
  source: OneOf(['sip', 'ported', 'provisioned']),
  created_at: Iso(),
  updated_at: Iso(),
  prompt: Nullable(Type.String()),
  pathway_id: Nullable(Type.String()),
  pathway_version: Nullable(PathwayVersionChoice),
  start_node_id: Nullable(Type.String()),
  persona_id: Nullable(Type.String()),
  stream_url: Nullable(Type.String()),
  realtime: Nullable(RealtimeAgentChoice),
  first_sentence: Nullable(Type.String()),
  wait_for_greeting: Type.Boolean(),
  block_interruptions: Type.Boolean(),
  ignore_button_press: Type.Boolean(),
  voice: Nullable(Type.String()),
  voice_id: Nullable(Type.String()),
  model: Type.String(),
  language: Type.String(),
  temperature: Type.Number(),
  interruption_threshold: Type.Integer(),
  timezone: Type.String(),
  max_duration: Type.Integer(),
  transfer_phone_number: Nullable(Type.String()),
  transfer_list: Nullable(Type.Record(Type.String(), Type.String())),
  fallback_number: Nullable(Type.String()),
  tools: Type.Array(Type.String(), { maxItems: 50 }),
  request_data: Open(),
  metadata: Open(),
  webhook: Nullable(Type.String()),
  call_limits: Nullable(CallLimitsView),
  recording: Nullable(RecordingSettingsView),
  key_terms: Type.Array(Type.String(), { maxItems: mostKeyTerms }),
};
export const InboundNumber = Type.Object(numberFields);
export type InboundNumber = Static<typeof InboundNumber>;

export const InboundNumberList = Type.Object({ inbound_numbers: Type.Array(ListItem(numberFields)) });
export const InboundQuery = PageQuery(500, 500);

export const InboundUpdated = Success({
  message: Type.String(),
  updates: Type.Record(Type.String(), Type.Unknown()),
});

export const InboundPath = PathId('phone_number', 'E.164 number, with or without plus');
