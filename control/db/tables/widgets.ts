/** Chats for pages. */
import type { Generated } from 'kysely';
import type { IsoTime, Json } from './columns.ts';

/** A chat for pages (contract 7). */
export interface WidgetRow {
  id: string;
  org_id: string;
  name: string;
  pathway_id: string | null;
  persona_id: string | null;
  /** An integer, `production` or `staging`, as text; null with a persona. */
  pathway_version: string | null;
  /** WidgetConfig of shared/api/widgets.ts. */
  config: Json;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface WidgetThreadRow {
  /** Grows in the order of creation. */
  ordinal: Generated<number>;
  id: string;
  widget_id: string;
  org_id: string;
  visitor_id: string | null;
  agent_hash: string;
  /** What the conversation was told at its start. */
  facts: Json;
  /** How far the conversation is; null before the first answer. */
  state: Json | null;
  message_count: number;
  /** Messages that the agent has taken notice of. */
  answered_count: number;
  created_at: IsoTime;
  /** When it ends unless a message comes before. */
  ends_at: IsoTime;
  ended_at: IsoTime | null;
  live_agent_handoff_at: IsoTime | null;
  /** Of the widget and the network that a visitor began it from, keyed; null: begun with an API key. */
  client_hash: string | null;
}

/** Who answers, as it was when a thread began; threads that began alike share it. */
export interface WidgetAgentRow {
  /** SHA-256 of `agent`, hexadecimal. */
  hash: string;
  agent: Json;
}

export interface WidgetMessageRow {
  thread_id: string;
  /** From 1 within the thread, without gaps. */
  number: number;
  id: string;
  sender_type: 'USER' | 'ASSISTANT';
  content: string;
  original_content: string | null;
  created_at: IsoTime;
}

/** The right of a page's visitor to one thread. */
export interface WidgetSessionRow {
  /** SHA-256 of the token, hexadecimal. */
  token_hash: string;
  widget_id: string;
  thread_id: string;
  expires_at: IsoTime;
}

export interface WidgetsTables {
  widgets: WidgetRow;
  widget_threads: WidgetThreadRow;
  widget_agents: WidgetAgentRow;
  widget_messages: WidgetMessageRow;
  widget_sessions: WidgetSessionRow;
}
