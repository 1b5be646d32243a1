/** Personas and their versions (contract section 12). */
import { type Static, type TSchema, Type } from 'typebox';
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
  PageQuery,
  PathId,
  PhoneNumber,
  Plain,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { LanguageTag, ToolId } from '#shared/api/inbound.ts';

const text = Type.String();
const Optional = Type.Optional;
const Clearable = <T extends TSchema>(schema: T) => Optional(Nullable(schema));

/** Defaults for the persona's calls; settings of a number or an order override them. */
const CallConfig = Closed({
  voice: Optional(Text(1, 100)),
  language: Optional(LanguageTag),
  max_duration: Optional(Integer(1, 720, 'minutes')),
  wait_for_greeting: Optional(BooleanOrText()),
  interruption_threshold: Optional(Integer(0, 5000, 'ms')),
});

const versionForm = '^(production|staging|0|[1-9][0-9]{0,8})$';

/** When the persona continues in a pathway. */
const PathwayCondition = Closed({
  name: Text(1, 200),
  prompt: Text(1, 20_000, 'The condition in plain words'),
  pathway_id: Uuid(),
  pathway_version: Clearable(
    Matching(versionForm, 'the number of a version, production or staging', {
      description: 'A number, production or staging; default: production',
    }),
  ),
  start_node_id: Clearable(Text(1, 128)),
});
export type PathwayCondition = Static<typeof PathwayCondition>;

const Writable = {
  role: Clearable(Text(0, 500)),
  description: Clearable(Text(0, 2000)),
  tags: Clearable(List(Text(), 0, 20)),
  orchestration_prompt: Clearable(Text(0, 20_000)),
  personality_prompt: Clearable(Text(0, 20_000)),
  call_config: Clearable(CallConfig),
  default_tools: Clearable(List(ToolId, 0, 50)),
  pathway_conditions: Clearable(List(PathwayCondition, 0, 20)),
};

export const PersonaCreate = Closed({ name: Text(1, 200), ...Writable });
export type PersonaCreate = Static<typeof PersonaCreate>;

export const PersonaUpdate = Closed({ name: Optional(Text(1, 200)), ...Writable });
export type PersonaUpdate = Static<typeof PersonaUpdate>;

const ShownCallConfig = Type.Object({
  voice: Optional(text),
  language: Optional(text),
  max_duration: Optional(Type.Integer()),
  wait_for_greeting: Optional(Type.Boolean()),
  interruption_threshold: Optional(Type.Integer()),
});
export type ShownCallConfig = Static<typeof ShownCallConfig>;

const versionFields = {
  id: text,
  persona_id: text,
  version_type: OneOf(['production', 'draft']),
  version_number: Type.Integer(),
  orchestration_prompt: Nullable(text),
  personality_prompt: Nullable(text),
  pathway_conditions: Type.Array(
    Type.Object({
      name: text,
      prompt: text,
      pathway_id: text,
      pathway_version: Nullable(text),
      start_node_id: Nullable(text),
    }),
  ),
  call_config: ShownCallConfig,
  default_tools: Type.Array(text, { maxItems: 50 }),
  content_hash: text,
  promoted_from_version_id: Nullable(
    Type.String({ description: 'The draft that became this version; it keeps its id' }),
  ),
  promoted_at: Nullable(Iso()),
  created_at: Iso(),
  updated_at: Iso(),
};
const PersonaVersion = Type.Object(versionFields);
export type PersonaVersion = Static<typeof PersonaVersion>;

const personaFields = {
  id: text,
  name: text,
  role: Nullable(text),
  description: Nullable(text),
  tags: Type.Array(text, { maxItems: 20 }),
  created_at: Iso(),
  updated_at: Iso(),
  deleted_at: Nullable(Iso()),
  current_production_version_id: text,
  current_draft_version_id: text,
  current_production_version: PersonaVersion,
  current_draft_version: PersonaVersion,
  inbound_numbers: Type.Array(Type.Object({ phone_number: text, label: Nullable(text), persona_id: text })),
};
const Persona = Type.Object(personaFields);
export type Persona = Static<typeof Persona>;

export const PersonaAnswer = Plain(Persona);
export const PersonaList = Plain(Type.Array(ListItem(personaFields)));
export const PersonaVersionList = Plain(Type.Array(ListItem(versionFields)));
export const PersonaVersionQuery = PageQuery(100, 100);
export const PersonaDeleted = Plain(Type.Object({ deleted: Type.Literal(true) }));

export const PersonaPage = Type.Object({
  page: Optional(Integer(1, 1_000_000, 'Default: 1')),
  limit: Optional(Integer(1, 100, 'Default: 20')),
});

export const Promote = Closed({ publish_on_pass: Optional(Type.Boolean()) });
export const PromotePending = Plain(Type.Object({ status: Type.Literal('pending'), batch_id: text }));

export const PersonaNumbers = Closed({ inbound_numbers: List(PhoneNumber(), 1, 100) });

export const PersonaPath = PathId('id', 'Id of the persona');
