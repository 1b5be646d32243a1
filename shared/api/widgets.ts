/** Widgets, their threads and messages (contract section 7). */
import { type Static, type TSchema, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  List,
  ListItem,
  Nullable,
  OneOf,
  Open,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { PathwayVersionChoice } from '#shared/api/inbound.ts';
import { PhoneCredentials } from '#shared/api/phone-sessions.ts';

const Optional = Type.Optional;
const text = Type.String();

const SenderType = OneOf(['USER', 'ASSISTANT']);
export type SenderType = Static<typeof SenderType>;

const WidgetConfigWrite = Closed({
  timeoutSeconds: Optional(Integer(60, 2_592_000, 'Idle time after which a thread ends')),
  greeting: Optional(Nullable(Text(0, 1000, 'First message of every thread'))),
  blockedWords: Optional(List(Text(), 0, 200)),
  allowedOrigins: Optional(List(Text(), 0, 20)),
  voice: Optional(Type.Boolean({ description: 'Whether visitors may call the agent from the page' })),
});
export type WidgetConfigWrite = Static<typeof WidgetConfigWrite>;

export const WidgetCreate = Closed({
  name: Text(1, 200),
  pathway_id: Optional(Uuid()),
  persona_id: Optional(Uuid()),
  pathway_version: Optional(PathwayVersionChoice),
  config: Optional(WidgetConfigWrite),
});
export type WidgetCreate = Static<typeof WidgetCreate>;

/** Absent members stay unchanged; a pathway replaces a persona and vice versa. */
export const WidgetUpdate = Closed({
  name: Optional(Text(1, 200)),
  pathway_id: Optional(Uuid()),
  persona_id: Optional(Uuid()),
  pathway_version: Optional(PathwayVersionChoice),
  config: Optional(WidgetConfigWrite),
});
export type WidgetUpdate = Static<typeof WidgetUpdate>;

const WidgetConfig = Type.Object({
  timeoutSeconds: Type.Integer(),
  greeting: Nullable(text),
  blockedWords: Type.Array(text, { maxItems: 200 }),
  allowedOrigins: Type.Array(text, { maxItems: 20 }),
  voice: Type.Boolean(),
});
export type WidgetConfig = Static<typeof WidgetConfig>;

const WidgetLine = Type.Object({
  id: text,
  name: text,
  pathway_id: Nullable(text),
  persona_id: Nullable(text),
  pathway_version: Nullable(PathwayVersionChoice),
  created_at: Iso(),
  updated_at: Iso(),
});
export type WidgetLine = Static<typeof WidgetLine>;
const Widget = Type.Object({ ...WidgetLine.properties, config: WidgetConfig });
export type Widget = Static<typeof Widget>;

export const ThreadCreate = Closed({
  visitor_id: Optional(Nullable(Uuid())),
  request_data: Optional(Open()),
});

export const MessageCreate = Closed({ content: Text(1, 4000), sender_type: Optional(SenderType) });

export const SessionCreate = Closed({ visitor_id: Optional(Uuid()) });

const WidgetMessage = Type.Object({
  id: text,
  sender_type: SenderType,
  created_at: Iso(),
  content: text,
  /** Before blocked words were masked or control characters removed. */
  original_content: Nullable(text),
  call_id: Nullable(Type.String({ description: 'The call in which it was spoken; null: it was written' })),
});
export type WidgetMessage = Static<typeof WidgetMessage>;

const BareThread = Type.Object({
  id: text,
  created_at: Iso(),
  ended_at: Nullable(Iso()),
  live_agent_handoff_at: Nullable(Iso()),
  visitor_id: Nullable(text),
});
export type BareThread = Static<typeof BareThread>;

const threadFields = { ...BareThread.properties, messages: Type.Array(WidgetMessage) };
const WidgetThread = Type.Object(threadFields);
export type WidgetThread = Static<typeof WidgetThread>;

/** Success body of the widget group (contract 1.2). */
const Success = <T extends TSchema>(data: T) =>
  Type.Object({ status: Type.Literal(200), data, errors: Type.Null() });

export function widgetAnswer<T>(data: T): { status: 200; data: T; errors: null } {
  return { status: 200, data, errors: null };
}

export const WidgetOne = Success(Type.Object({ widget: Widget }));
export const WidgetList = Success(Type.Object({ widgets: Type.Array(WidgetLine), total: Type.Integer() }));
export const WidgetDeleted = Success(Type.Object({ id: text, deleted: Type.Literal(true) }));
export const ThreadAnswer = Success(Type.Object({ thread: WidgetThread }));
export const MessageAnswer = Success(
  Type.Object({ messages: Type.Array(WidgetMessage), thread: BareThread }),
);
export const ThreadListAnswer = Success(
  Type.Object({ threads: Type.Array(ListItem(threadFields)), total: Type.Integer() }),
);
export const SessionAnswer = Success(
  Type.Object({ token: text, visitor_id: text, thread_id: text, expires_at: Iso() }),
);

export const ThreadCallAnswer = Success(
  Type.Object({
    phone_session_id: text,
    credentials: PhoneCredentials,
    expires_at: Iso(),
  }),
);

export const WidgetPage = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
});

export const ThreadQuery = Type.Object({
  ...WidgetPage.properties,
  thread_id: Type.Optional(Uuid()),
});

export const WidgetPath = Type.Object({ id: Type.String({ description: 'Id of the widget' }) });
export const ThreadPath = Type.Object({
  id: Type.String({ description: 'Id of the widget' }),
  thread_id: Type.String({ description: 'Id of the thread' }),
});
