/** Chat widgets. */
import type { Generated } from 'kysely';
import type { WidgetConfig } from '#shared/api/widgets.ts';
import type { Json } from '../json.ts';
import type { IsoTime } from './columns.ts';

/** A chat widget (contract 7). */
export interface WidgetRow {
  id: string;
  org_id: string;
  name: string;
  pathway_id: string | null;
  persona_id: string | null;
  /** An integer, `production` or `staging`, as text; null with a persona. */
  pathway_version: string | null;
  /** WidgetConfig of shared/api/widgets.ts. */
  config: Json<WidgetConfig>;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface WidgetThreadRow {
  /** Increases in order of creation. */
  ordinal: Generated<number>;
  id: string;
  widget_id: string;
  org_id: string;
  visitor_id: string | null;
  agent_hash: string;
  /** The conversation's initial facts. */
  facts: Json;
  /** The conversation's state; null before the first answer. */
  state: Json | null;
  message_count: number;
  /** Messages that the agent has handled. */
  answered_count: number;
  created_at: IsoTime;
  /** When it ends unless a message comes before. */
  ends_at: IsoTime;
  ended_at: IsoTime | null;
  live_agent_handoff_at: IsoTime | null;
  /** Keyed hash of the widget and the visitor's network; null: started with an API key. */
  client_hash: string | null;
}

/** The agent as of a thread's start, shared by identical threads. */
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
  /** The call in which it was spoken; null: it was written. */
  call_id: string | null;
}

/** A phone session for a thread, until its call is over and copied. */
export interface WidgetCallRow {
  session_id: string;
  widget_id: string;
  thread_id: string;
  /** The last part of the call's transcript of which all lines are in the thread. */
  copied_part: number;
  expires_at: IsoTime;
}

/** A visitor's access to one thread. */
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
  widget_calls: WidgetCallRow;
}
