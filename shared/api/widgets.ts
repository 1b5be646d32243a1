/** Widgets, their threads and messages (contract section 7). */
import { type Static, type TSchema, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  List,
  ListItem,
  NoErrors,
  Nullable,
  OneOf,
  Open,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { PathwayVersionChoice } from '#shared/api/inbound.ts';
import { PhoneCredentials } from '#shared/api/phone-sessions.ts';
import { described } from '#shared/described.ts';

const Optional = Type.Optional;
const text = Type.String();

const SenderType = OneOf(['USER', 'ASSISTANT']);
export type SenderType = Static<typeof SenderType>;

const WidgetConfigWrite = Closed({
  timeoutSeconds: Optional(Integer(60, 2_592_000, 'Idle time after which a thread ends')),
  greeting: Optional(Nullable(Text(0, 1000, 'First message of every thread; null: that of the agent'))),
  blockedWords: Optional(List(Text(), 0, 200, 'Words that are masked in both directions, in any case')),
  allowedOrigins: Optional(List(Text(), 0, 20, 'Origins of pages that may embed it, or `*`; empty: none')),
  voice: Optional(Type.Boolean({ description: 'Whether visitors may call the agent from the page' })),
});
export type WidgetConfigWrite = Static<typeof WidgetConfigWrite>;

export const WidgetCreate = Closed({
  name: Text(1, 200, 'Name of the widget'),
  pathway_id: Optional(Uuid('Pathway that answers; exactly one of the two')),
  persona_id: Optional(Uuid('Persona that answers; exactly one of the two')),
  pathway_version: Optional(
    described(
      PathwayVersionChoice,
      'Version of the pathway: a number, 0 for the live graph, `production` or `staging`; default: production',
    ),
  ),
  config: Optional(described(WidgetConfigWrite, 'Settings; what is left out gets its default')),
});
export type WidgetCreate = Static<typeof WidgetCreate>;

/** Absent members stay unchanged; a pathway replaces a persona and vice versa. */
export const WidgetUpdate = Closed({
  name: Optional(Text(1, 200, 'Name of the widget')),
  pathway_id: Optional(Uuid('Pathway that answers; replaces a persona')),
  persona_id: Optional(Uuid('Persona that answers; replaces a pathway')),
  pathway_version: Optional(described(PathwayVersionChoice, 'Version of the pathway')),
  config: Optional(described(WidgetConfigWrite, 'Settings; what is left out stays')),
});
export type WidgetUpdate = Static<typeof WidgetUpdate>;

const WidgetConfig = Type.Object({
  timeoutSeconds: Type.Integer({ description: 'A thread ends after this time without a message, s' }),
  greeting: Nullable(text, "First message of every thread; null: the agent's own"),
  blockedWords: Type.Array(text, { maxItems: 200, description: 'Words that are masked in both directions' }),
  allowedOrigins: Type.Array(text, { maxItems: 20, description: 'Origins of pages that may embed it' }),
  voice: Type.Boolean({ description: 'Whether visitors may call the agent' }),
});
export type WidgetConfig = Static<typeof WidgetConfig>;

const WidgetLine = Type.Object({
  id: Type.String({ description: 'Id of the widget' }),
  name: Type.String({ description: 'Its name' }),
  pathway_id: Nullable(text, 'Pathway that answers; null: a persona does'),
  persona_id: Nullable(text, 'Persona that answers; null: a pathway does'),
  pathway_version: Nullable(PathwayVersionChoice, 'Version of the pathway; null: a persona answers'),
  created_at: Iso('When it was created'),
  updated_at: Iso('When it was changed last'),
});
export type WidgetLine = Static<typeof WidgetLine>;
const Widget = Type.Object({ ...WidgetLine.properties, config: described(WidgetConfig, 'Its settings') });
export type Widget = Static<typeof Widget>;

export const ThreadCreate = Closed({
  visitor_id: Optional(Nullable(Uuid(), 'Id of the visitor; null: none')),
  request_data: Optional(Open('Variables for the agent')),
});

export const MessageCreate = Closed({
  content: Text(1, 4000, 'What is said'),
  sender_type: Optional(described(SenderType, 'USER: the visitor; ASSISTANT: a live agent; default: USER')),
});

export const SessionCreate = Closed({
  visitor_id: Optional(Uuid('Id that the visitor got before; default: a new one')),
});

const WidgetMessage = Type.Object({
  id: Type.String({ description: 'Id of the message' }),
  sender_type: described(SenderType, 'Who said it'),
  created_at: Iso('When it was said'),
  content: Type.String({ description: 'What was said' }),

  original_content: Nullable(
    text,
    'Before blocked words were masked or control characters removed; null: nothing was changed',
  ),
  call_id: Nullable(Type.String({ description: 'The call in which it was spoken; null: it was written' })),
});
export type WidgetMessage = Static<typeof WidgetMessage>;

const BareThread = Type.Object({
  id: Type.String({ description: 'Id of the thread' }),
  created_at: Iso('When it began'),
  ended_at: Nullable(Iso(), 'When it ended; null: it is open'),
  live_agent_handoff_at: Nullable(Iso(), 'When it was handed over to a live agent; null: it was not'),
  visitor_id: Nullable(text, 'Id of the visitor; null: none'),
});
export type BareThread = Static<typeof BareThread>;

const threadFields = {
  ...BareThread.properties,
  messages: Type.Array(WidgetMessage, { description: 'Oldest first' }),
};
const WidgetThread = Type.Object(threadFields);
export type WidgetThread = Static<typeof WidgetThread>;

/** Success body of the widget group (contract 1.2). */
const Success = <T extends TSchema>(data: T) =>
  Type.Object({
    status: Type.Literal(200, { description: 'Always 200' }),
    data: described(data, 'The result'),
    errors: NoErrors(),
  });

export function widgetAnswer<T>(data: T): { status: 200; data: T; errors: null } {
  return { status: 200, data, errors: null };
}

export const WidgetOne = Success(Type.Object({ widget: described(Widget, 'The widget') }));
export const WidgetList = Success(
  Type.Object({
    widgets: Type.Array(WidgetLine, { description: 'Newest first' }),
    total: Type.Integer({ description: 'How many there are on all pages' }),
  }),
);
export const WidgetDeleted = Success(
  Type.Object({
    id: Type.String({ description: 'Id of the widget' }),
    deleted: Type.Literal(true, { description: 'Always true' }),
  }),
);
export const ThreadAnswer = Success(Type.Object({ thread: described(WidgetThread, 'The thread') }));
export const MessageAnswer = Success(
  Type.Object({
    messages: Type.Array(WidgetMessage, { description: "The stored message, then the agent's answers" }),
    thread: described(BareThread, 'The thread without its messages'),
  }),
);
export const ThreadListAnswer = Success(
  Type.Object({
    threads: Type.Array(ListItem(threadFields), { description: 'Newest first' }),
    total: Type.Integer({ description: 'How many there are on all pages' }),
  }),
);
export const SessionAnswer = Success(
  Type.Object({
    token: Type.String({ description: "For the header authorization of the visitor's requests" }),
    visitor_id: Type.String({ description: 'Id of the visitor' }),
    thread_id: Type.String({ description: 'Id of the thread' }),
    expires_at: Iso('Until when the token is valid'),
  }),
);

export const ThreadCallAnswer = Success(
  Type.Object({
    phone_session_id: Type.String({ description: 'Id of the phone session' }),
    credentials: described(PhoneCredentials, 'With what the browser calls'),
    expires_at: Iso('Until when the call may begin'),
  }),
);

export const WidgetPage = Type.Object({
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 1, description: 'Number of the page' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Most entries of a page' }),
  ),
});

export const ThreadQuery = Type.Object({
  ...WidgetPage.properties,
  thread_id: Type.Optional(Uuid('Only this thread')),
});

export const WidgetPath = Type.Object({ id: Type.String({ description: 'Id of the widget' }) });
export const ThreadPath = Type.Object({
  id: Type.String({ description: 'Id of the widget' }),
  thread_id: Type.String({ description: 'Id of the thread' }),
});
