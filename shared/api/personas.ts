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
import { described } from '#shared/described.ts';

const text = Type.String();
const Optional = Type.Optional;
const Clearable = <T extends TSchema>(schema: T, description?: string) =>
  Optional(Nullable(schema, description));

/** Defaults for the persona's calls; settings of a number or an order override them. */
const CallConfig = Closed({
  voice: Optional(Text(1, 100, 'Name of a voice')),
  language: Optional(described(LanguageTag, 'Language of the conversation')),
  max_duration: Optional(Integer(1, 720, 'Longest call, minutes')),
  wait_for_greeting: Optional(BooleanOrText('Whether it waits until the other party has spoken')),
  interruption_threshold: Optional(Integer(0, 5000, 'Speech that interrupts the agent, ms')),
});

const versionForm = '^(production|staging|0|[1-9][0-9]{0,8})$';

/** When the persona continues in a pathway. */
const PathwayCondition = Closed({
  name: Text(1, 200, 'Name of the condition'),
  prompt: Text(1, 20_000, 'The condition in plain words'),
  pathway_id: Uuid('Pathway in which it continues'),
  pathway_version: Clearable(
    Matching(versionForm, 'the number of a version, production or staging', {
      description: 'A number, production or staging; default: production; null: the default',
    }),
  ),
  start_node_id: Clearable(Text(1, 128), 'Node at which it continues; null: the start node'),
});
export type PathwayCondition = Static<typeof PathwayCondition>;

const Writable = {
  role: Clearable(Text(0, 500), 'What the persona is; null: nothing is said of it'),
  description: Clearable(Text(0, 2000), 'What it is for; null: nothing is said of it'),
  tags: Clearable(List(Text(), 0, 20), 'For people; null: none'),
  orchestration_prompt: Clearable(Text(0, 20_000), 'What to do; null: nothing'),
  personality_prompt: Clearable(Text(0, 20_000), 'How to behave; null: nothing'),
  call_config: Clearable(CallConfig, 'Defaults of its calls; null: none'),
  default_tools: Clearable(List(ToolId, 0, 50), 'Ids of tools that it may use; null: none'),
  pathway_conditions: Clearable(List(PathwayCondition, 0, 20), 'When it continues in a pathway; null: never'),
};

export const PersonaCreate = Closed({ name: Text(1, 200, 'Name of the persona'), ...Writable });
export type PersonaCreate = Static<typeof PersonaCreate>;

export const PersonaUpdate = Closed({ name: Optional(Text(1, 200, 'Name of the persona')), ...Writable });
export type PersonaUpdate = Static<typeof PersonaUpdate>;

const ShownCallConfig = Type.Object({
  voice: Optional(Type.String({ description: 'Name of a voice' })),
  language: Optional(Type.String({ description: 'Language of the conversation' })),
  max_duration: Optional(Type.Integer({ description: 'Longest call, minutes' })),
  wait_for_greeting: Optional(
    Type.Boolean({ description: 'Whether it waits until the other party has spoken' }),
  ),
  interruption_threshold: Optional(Type.Integer({ description: 'Speech that interrupts it, ms' })),
});
export type ShownCallConfig = Static<typeof ShownCallConfig>;

const versionFields = {
  id: Type.String({ description: 'Id of the version' }),
  persona_id: Type.String({ description: 'Id of the persona' }),
  version_type: OneOf(['production', 'draft'], 'production: it talks; draft: changes go to it'),
  version_number: Type.Integer({ description: 'Number of the version, from 1' }),
  orchestration_prompt: Nullable(text, 'What to do; null: nothing'),
  personality_prompt: Nullable(text, 'How to behave; null: nothing'),
  pathway_conditions: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Name of the condition' }),
      prompt: Type.String({ description: 'The condition in plain words' }),
      pathway_id: Type.String({ description: 'Pathway in which it continues' }),
      pathway_version: Nullable(text, 'A number, production or staging; null: production'),
      start_node_id: Nullable(text, 'Node at which it continues; null: the start node'),
    }),
    { description: 'When it continues in a pathway' },
  ),
  call_config: described(ShownCallConfig, 'Defaults of its calls'),
  default_tools: Type.Array(text, { maxItems: 50, description: 'Ids of tools that it may use' }),
  content_hash: Type.String({ description: 'SHA-256 of the content, hexadecimal' }),
  promoted_from_version_id: Nullable(
    Type.String({
      description: 'The draft that became this version; it keeps its id; null: it was created so',
    }),
  ),
  promoted_at: Nullable(Iso(), 'When it became the production version; null: it did not'),
  created_at: Iso('When it was created'),
  updated_at: Iso('When it was changed last'),
};
const PersonaVersion = Type.Object(versionFields);
export type PersonaVersion = Static<typeof PersonaVersion>;

const personaFields = {
  id: Type.String({ description: 'Id of the persona' }),
  name: Type.String({ description: 'Its name' }),
  role: Nullable(text, 'What it is; null: nothing is said of it'),
  description: Nullable(text, 'What it is for; null: nothing is said of it'),
  tags: Type.Array(text, { maxItems: 20, description: 'For people' }),
  created_at: Iso('When it was created'),
  updated_at: Iso('When it was changed last'),
  deleted_at: Nullable(Iso(), 'Always null'),
  current_production_version_id: Type.String({ description: 'Version that talks' }),
  current_draft_version_id: Type.String({ description: 'Version that changes go to' }),
  current_production_version: described(PersonaVersion, 'The version that talks'),
  current_draft_version: described(PersonaVersion, 'The version that changes go to'),
  inbound_numbers: Type.Array(
    Type.Object({
      phone_number: Type.String({ description: 'E.164 with plus' }),
      label: Nullable(text, 'Label of the number; null: none'),
      persona_id: Type.String({ description: 'Id of the persona' }),
    }),
    { description: 'Numbers that it answers' },
  ),
};
const Persona = Type.Object(personaFields);
export type Persona = Static<typeof Persona>;

export const PersonaAnswer = Plain(Persona);
export const PersonaList = Plain(Type.Array(ListItem(personaFields)));
export const PersonaVersionList = Plain(Type.Array(ListItem(versionFields)));
export const PersonaVersionQuery = PageQuery(100, 100);
export const PersonaDeleted = Plain(
  Type.Object({ deleted: Type.Literal(true, { description: 'Always true' }) }),
);

export const PersonaPage = Type.Object({
  page: Optional(Integer(1, 1_000_000, 'Number of the page; default: 1')),
  limit: Optional(Integer(1, 100, 'Most entries of a page; default: 20')),
});

export const Promote = Closed({
  publish_on_pass: Optional(
    Type.Boolean({
      description:
        'When the gate blocks: promote as soon as the blocking scenarios have passed; default: false',
    }),
  ),
});
export const PromotePending = Plain(
  Type.Object({
    status: Type.Literal('pending', { description: 'Always pending: the scenarios run first' }),
    batch_id: Type.String({ description: 'Batch of these scenarios' }),
  }),
);

export const PersonaNumbers = Closed({
  inbound_numbers: List(PhoneNumber(), 1, 100, 'Numbers of the organization; all or none are changed'),
});

export const PersonaPath = PathId('id', 'Id of the persona');
