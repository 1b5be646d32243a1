/** Rows as the API shows them (contract section 7). */
import type {
  BareThread,
  Widget,
  WidgetConfig,
  WidgetLine,
  WidgetMessage,
  WidgetThread,
} from '#shared/api/widgets.ts';
import { fromJson, type WidgetMessageRow, type WidgetRow } from '../db/index.ts';
import { defaultConfig, endOf } from './rules.ts';
import type { StoredThread } from './store.ts';

export function configOf(row: Pick<WidgetRow, 'config'>): WidgetConfig {
  // Those of earlier versions lack members.
  return { ...defaultConfig, ...fromJson(row.config) };
}

export function widgetView(row: WidgetRow): Widget {
  return { ...widgetLine(row), config: configOf(row) };
}

/** For lists: without the config, which may be large. */
export function widgetLine(row: Omit<WidgetRow, 'config'>): WidgetLine {
  const { id, name, pathway_id, persona_id, created_at, updated_at } = row;
  const pathway_version = versionView(row.pathway_version);
  return { id, name, pathway_id, persona_id, pathway_version, created_at, updated_at };
}

export function versionView(stored: string | null): Widget['pathway_version'] {
  if (stored === null || stored === 'production' || stored === 'staging') return stored;
  return Number(stored);
}

/** @param now ISO; a timed-out thread shows its end */
export function bareThreadView(row: StoredThread, now: string): BareThread {
  const { id, created_at, live_agent_handoff_at, visitor_id } = row;
  return { id, created_at, ended_at: endOf(row, now), live_agent_handoff_at, visitor_id };
}

export function threadView(
  row: StoredThread,
  messages: readonly WidgetMessageRow[],
  now: string,
  toVisitor: boolean,
): WidgetThread {
  return {
    ...bareThreadView(row, now),
    messages: messages.map((message) => messageView(message, toVisitor)),
  };
}

/** @param toVisitor a masked answer stays masked for the visitor */
export function messageView(row: WidgetMessageRow, toVisitor: boolean): WidgetMessage {
  const { id, sender_type, created_at, content, call_id } = row;
  const hidden = toVisitor && sender_type === 'ASSISTANT';
  const original_content = hidden ? null : row.original_content;
  return { id, sender_type, created_at, content, original_content, call_id };
}
