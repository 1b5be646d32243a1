/** The organization's own settings (contract 14.1). */
import { type Static, Type } from 'typebox';
import { CallCeilingView, CallLimitsUpdate, CallLimitsView } from '#shared/api/call-limits.ts';
import { Closed, Email, Iso, List, Nullable, PhoneNumber, Plain, Text } from '#shared/api/common.ts';
import { KeyTerms } from '#shared/api/key-terms.ts';
import { ModelPrices, ModelPricesView } from '#shared/api/model-prices.ts';
import { Pronunciations, PronunciationsView } from '#shared/api/pronunciations.ts';
import { RealtimeConnections, RealtimeConnectionsView } from '#shared/api/realtime.ts';
import { RecordingSettings, RecordingSettingsView } from '#shared/api/recordings.ts';
import { described } from '#shared/described.ts';
import { mostKeyTerms } from '#shared/key-terms.ts';

const Optional = Type.Optional;
const text = Type.String();

export const OrganizationPatch = Closed({
  alert_emails: Optional(List(Email(), 0, 20, 'Who gets alerts by mail; replaces the list')),
  alert_sms_numbers: Optional(List(PhoneNumber(), 0, 20, 'Who gets alerts by SMS; replaces the list')),
  event_webhook_url: Optional(
    Nullable(Text(1, 2048, 'https:// URL that gets events without a URL of their own; null: nothing does')),
  ),

  call_limits: Optional(
    Nullable(
      CallLimitsUpdate,
      'Replaces the previous value; null: only the ceiling applies. No limit may be above its ceiling',
    ),
  ),

  recording: Optional(
    Nullable(RecordingSettings, 'Of calls whose number and order say nothing; null: none is recorded'),
  ),

  realtime: Optional(described(RealtimeConnections, 'Servers of realtime agents; replaces the list')),

  pronunciations: Optional(described(Pronunciations, 'How texts are spoken; replaces the list')),

  key_terms: Optional(
    described(KeyTerms, 'Names and words that callers are likely to say, on all calls; replaces the list'),
  ),

  model_prices: Optional(
    Nullable(ModelPrices, 'For the cost of test runs; replaces the previous value; null: not known'),
  ),

  supervision_tone: Optional(
    Type.Boolean({
      description: 'Whether a tone tells the parties of a call that a supervisor has joined it',
    }),
  ),
});
export type OrganizationPatch = Static<typeof OrganizationPatch>;

const Settings = Type.Object({
  org_id: Type.String({ description: 'Id of the organization' }),
  name: Type.String({ description: 'Its name' }),
  region: Type.String({ description: 'Its region' }),
  sip_enabled: Type.Boolean({ description: 'Whether it may use /v1/sip' }),
  alert_emails: Type.Array(text, { maxItems: 20, description: 'Who gets alerts by mail' }),
  alert_sms_numbers: Type.Array(text, { maxItems: 20, description: 'Who gets alerts by SMS' }),
  event_webhook_url: Nullable(text, 'Gets events that have no URL of their own; null: nothing does'),
  call_limits: Nullable(CallLimitsView, 'Limits of outgoing calls; null: only the ceiling applies'),
  call_ceiling: described(CallCeilingView, "The operator's ceiling of these limits"),
  recording: Nullable(
    RecordingSettingsView,
    'Of calls whose number and order say nothing; null: none is recorded',
  ),
  realtime: described(RealtimeConnectionsView, 'Servers of realtime agents'),
  pronunciations: described(PronunciationsView, 'How texts are spoken'),
  key_terms: Type.Array(text, {
    maxItems: mostKeyTerms,
    description: 'Names and words that callers are likely to say, on all calls',
  }),
  model_prices: Nullable(ModelPricesView, 'For the cost of test runs; null: not known'),
  supervision_tone: Type.Boolean({
    description: 'Whether a tone tells the parties of a call that a supervisor has joined it',
  }),
});
export type OrganizationSettings = Static<typeof Settings>;

export const OrganizationSettingsAnswer = Plain(Settings);

export const WebhookSecret = Plain(
  Type.Object({
    secret: Type.String({ description: '32 bytes in hexadecimal, shown once' }),
    created_at: Iso('When it was created'),
  }),
);
