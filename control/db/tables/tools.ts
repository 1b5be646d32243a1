/** Tools, where they reach, and their runs. */
import type { Json, SealedJson } from '../json.ts';
import type { Flag, IsoTime } from './columns.ts';

/** A tool of an organization (contract 8.1). */
export interface ToolRow {
  /** uuid, without the `TL-` prefix that clients see. */
  id: string;
  org_id: string;
  name: string;
  description: string;
  integration: string;
  action: string;
  input_schema: Json | null;
  /** Sealed JSON, also for a string. */
  body: SealedJson | null;
  speech: string | null;
  /** ms */
  timeout: number;
  cache: Flag;
  response_data: Json | null;
  max_retries: number;
  /** seconds */
  cooldown: number;
  resource_id: string | null;
  public: Flag;
  label: string | null;
  /** Increases with every update, so that cached results expire with it. */
  version: number;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** An integration's target and credentials. */
export interface IntegrationResourceRow {
  id: string;
  org_id: string;
  integration: string;
  name: string;
  /** Sealed JSON. */
  credentials: SealedJson;
  status: 'active' | 'inactive';
  /** Consecutive 401 responses. */
  refusals: number;
  created_at: IsoTime;
}

/** The result of one tool run; no request or response data. */
export interface ToolRunRow {
  id: string;
  org_id: string;
  tool_id: string;
  /** `api`, `call`, `chat`, `widget` or `test` */
  source: string;
  conversation_id: string | null;
  started_at: IsoTime;
  success: Flag;
  cached: Flag;
  status_code: number | null;
  duration_ms: number;
  attempts: number;
  error: string | null;
}

export interface ToolsTables {
  tools: ToolRow;
  integration_resources: IntegrationResourceRow;
  tool_runs: ToolRunRow;
}
