/** Templates, and scenarios made from calls (contract 6.2). */
import { type Static, Type } from 'typebox';
import { Closed, List, Nullable, OneOf, Open, PathId, Text } from '#shared/api/common.ts';
import { assertionTypes } from './assertions.ts';
import { anySubject, CategoryInput, categories, clonable, scenarioFields, subject } from './scenarios.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();

export const TemplateQuery = Type.Object({ category: Optional(CategoryInput()) });

const Template = Type.Object({
  id: text,
  name: text,
  description: text,
  category: OneOf(categories),
  tester_persona_prompt: text,
  tester_persona_name: text,
  max_turns: Type.Integer(),
  assertions: Type.Array(
    Type.Object({
      type: OneOf(assertionTypes),
      name: text,
      config: Open(),
      is_required: Type.Boolean(),
      weight: Type.Number(),
      order: Type.Integer(),
    }),
  ),
});
export type Template = Static<typeof Template>;
export const TemplateList = Testing({ templates: Type.Array(Template, { maxItems: 20 }) });

export const TemplateClone = Closed({ ...anySubject, ...clonable, name: Optional(Text(1, 200)) });
export type TemplateClone = Static<typeof TemplateClone>;
export const TemplateCloned = Testing({ scenario: Type.Object(scenarioFields) });
export const TemplatePath = PathId('id', 'Id of the template');

export const GenerateFromCall = Closed({
  ...subject,
  call_id: Optional(Text(1, 255, 'Id of a call, or a SIP Call-ID of the call log')),
  transcript: Optional(
    List(Closed({ role: OneOf(['user', 'assistant']), content: Text(0, 10_000) }), 0, 500),
  ),
});
export type GenerateFromCall = Static<typeof GenerateFromCall>;

/** The kinds of data removed; the text itself is not shown again. */
const Removed = Type.Object({
  kind: text,
  placeholder: Type.String({ description: 'The placeholder that replaces it' }),
  hint: Type.String({ description: 'First and last character' }),
  count: Type.Integer(),
});

export const GeneratedScenario = Testing({
  name: text,
  description: Nullable(text),
  category: OneOf(categories),
  tester_persona_prompt: text,
  tester_persona_name: Nullable(text),
  pathway_id: Nullable(text),
  persona_id: Nullable(text),
  request_data: Nullable(Open()),
  start_node_id: Nullable(text),
  metadata: Type.Object({
    generated_by: Type.String({ description: '`rules`, or the model that wrote the texts' }),
    removed: Type.Array(Removed),
  }),
});
