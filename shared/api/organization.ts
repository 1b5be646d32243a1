/** The organization's own settings (contract 14.1). */
import { type Static, Type } from 'typebox';
import { CallCeilingView, CallLimitsUpdate, CallLimitsView } from '#shared/api/call-limits.ts';
import { Closed, Email, Iso, List, Nullable, PhoneNumber, Plain, Text } from '#shared/api/common.ts';
import { KeyTerms } from '#shared/api/key-terms.ts';
import { ModelPrices, ModelPricesView } from '#shared/api/model-prices.ts';
import { Pronunciations, PronunciationsView } from '#shared/api/pronunciations.ts';
import { RealtimeConnections, RealtimeConnectionsView } from '#shared/api/realtime.ts';
import { RecordingSettings, RecordingSettingsView } from '#shared/api/recordings.ts';
import { mostKeyTerms } from '#shared/key-terms.ts';

const Optional = Type.Optional;
const text = Type.String();

export const OrganizationPatch = Closed({
  alert_emails: Optional(List(Email(), 0, 20)),
  alert_sms_numbers: Optional(List(PhoneNumber(), 0, 20)),
  event_webhook_url: Optional(Nullable(Text(1, 2048, 'An https:// URL'))),
  /** Replaces the previous value; with null only the ceiling applies. No limit may be above its ceiling. */
  call_limits: Optional(Nullable(CallLimitsUpdate)),
  /** Of calls whose number and order say nothing; null: none is recorded. */
  recording: Optional(Nullable(RecordingSettings)),
  /** Replaces the list. */
  realtime: Optional(RealtimeConnections),
  /** Replaces the list. */
  pronunciations: Optional(Pronunciations),
  /** Of all of its calls. Replaces the list. */
  key_terms: Optional(KeyTerms),
  /** For the cost of test runs. Replaces the previous value; null: not known. */
  model_prices: Optional(Nullable(ModelPrices)),
  /** Whether a tone tells the parties of a call that a supervisor has joined it. */
  supervision_tone: Optional(Type.Boolean()),
});
export type OrganizationPatch = Static<typeof OrganizationPatch>;

const Settings = Type.Object({
  org_id: text,
  name: text,
  region: text,
  sip_enabled: Type.Boolean(),
  alert_emails: Type.Array(text, { maxItems: 20 }),
  alert_sms_numbers: Type.Array(text, { maxItems: 20 }),
  event_webhook_url: Nullable(text),
  call_limits: Nullable(CallLimitsView),
  call_ceiling: CallCeilingView,
  recording: Nullable(RecordingSettingsView),
  realtime: RealtimeConnectionsView,
  pronunciations: PronunciationsView,
  key_terms: Type.Array(text, { maxItems: mostKeyTerms }),
  model_prices: Nullable(ModelPricesView),
  supervision_tone: Type.Boolean(),
});
export type OrganizationSettings = Static<typeof Settings>;

export const OrganizationSettingsAnswer = Plain(Settings);

export const WebhookSecret = Plain(
  Type.Object({
    secret: Type.String({ description: '32 bytes in hexadecimal, shown once' }),
    created_at: Iso(),
  }),
);
