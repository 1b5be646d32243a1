/** Templates, and scenarios made from calls (contract 6.2). */
import { type Static, Type } from 'typebox';
import { Closed, List, Nullable, OneOf, Open, PathId, Text } from '#shared/api/common.ts';
import { described } from '#shared/described.ts';
import { assertionTypes } from './assertions.ts';
import { anySubject, CategoryInput, categories, clonable, scenarioFields, subject } from './scenarios.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();

export const TemplateQuery = Type.Object({
  category: Optional(described(CategoryInput(), 'Only templates of this category')),
});

const Template = Type.Object({
  id: Type.String({ description: '`tmpl_` and a short name' }),
  name: Type.String({ description: 'Its name' }),
  description: Type.String({ description: 'What it tests' }),
  category: OneOf(categories, 'Kind of caller'),
  tester_persona_prompt: Type.String({ description: 'Who the caller is and what it does' }),
  tester_persona_name: Type.String({ description: 'Name of the caller' }),
  max_turns: Type.Integer({ description: 'Most moves of the caller' }),
  assertions: Type.Array(
    Type.Object({
      type: OneOf(assertionTypes, 'What is checked'),
      name: Type.String({ description: 'Name that results show' }),
      config: Open('Settings of its type'),
      is_required: Type.Boolean({ description: 'Whether a run can pass only when this passes' }),
      weight: Type.Number({ description: 'Weight in the overall score' }),
      order: Type.Integer({ description: 'Place among the results' }),
    }),
    { description: 'What decides whether a run passes' },
  ),
});
export type Template = Static<typeof Template>;
export const TemplateList = Testing({
  templates: Type.Array(Template, { maxItems: 20, description: 'All of them' }),
});

export const TemplateClone = Closed({
  ...anySubject,
  ...clonable,
  name: Optional(
    Text(1, 200, 'Name of the scenario; default: that of the template, with a number when it is taken'),
  ),
});
export type TemplateClone = Static<typeof TemplateClone>;
export const TemplateCloned = Testing({
  scenario: Type.Object(scenarioFields, { description: 'The new scenario' }),
});
export const TemplatePath = PathId('id', 'Id of the template');

export const GenerateFromCall = Closed({
  ...subject,
  call_id: Optional(Text(1, 255, 'Id of a call, or a SIP Call-ID of the call log')),
  transcript: Optional(
    List(
      Closed({
        role: OneOf(['user', 'assistant'], '`user` is the caller'),
        content: Text(0, 10_000, 'What was said'),
      }),
      0,
      500,
      'A conversation; either this or `call_id`',
    ),
  ),
});
export type GenerateFromCall = Static<typeof GenerateFromCall>;

/** The kinds of data removed; the text itself is not shown again. */
const Removed = Type.Object({
  kind: Type.String({ description: 'What was replaced, such as a phone number' }),
  placeholder: Type.String({ description: 'The placeholder that replaces it' }),
  hint: Type.String({ description: 'First and last character' }),
  count: Type.Integer({ description: 'How often it was replaced' }),
});

export const GeneratedScenario = Testing({
  name: Type.String({ description: 'Proposed name' }),
  description: Nullable(text, 'What it tests; null: nothing to say'),
  category: OneOf(categories, 'Kind of caller'),
  tester_persona_prompt: Type.String({ description: 'Who the caller is and what it does' }),
  tester_persona_name: Nullable(text, 'Name of the caller; null: none'),
  pathway_id: Nullable(text, 'Pathway that is tested; null: a persona is'),
  persona_id: Nullable(text, 'Persona that is tested; null: a pathway is'),
  request_data: Nullable(Open(), 'Variables for the agent; null: none'),
  start_node_id: Nullable(text, 'Node at which the agent begins; null: its start node'),
  metadata: Type.Object(
    {
      generated_by: Type.String({ description: '`rules`, or the model that wrote the texts' }),
      removed: Type.Array(Removed, { description: 'What was replaced by placeholders' }),
    },
    { description: 'How the draft was made' },
  ),
});
