/** The audit log: who made a change, and which fields of a row it changed. */
import type { FastifyRequest } from 'fastify';
import type { AuditEntry } from '#shared/api/audit.ts';
import { type AuditEntryRow, fromJson } from '../db/index.ts';

/** The author of a change. */
export interface Actor {
  readonly kind: AuditEntryRow['actor_kind'];
  /** First characters of the key; null without a key. */
  readonly key: string | null;
  readonly requestId: string | null;
}

/** The control plane itself, for example at its first start. */
export const systemActor: Actor = { kind: 'system', key: null, requestId: null };

/** `npm run admin`. */
export const commandLineActor: Actor = { kind: 'command_line', key: null, requestId: null };

/** The author of a request; the system for a request without a key, such as a visitor's. */
export function actorOf(request: Pick<FastifyRequest, 'caller' | 'id'>): Actor {
  const { caller, id } = request;
  if (!caller) return { ...systemActor, requestId: id };
  const kind = caller.kind === 'operator' ? 'operator' : 'api_key';
  return { kind, key: caller.keyPrefix, requestId: id };
}

/** Changes with each write, so it is not listed. */
const silent: ReadonlySet<string> = new Set(['updated_at']);

/** Names of the columns that differ between two states of a row; no values, because they may be secrets. */
export function changedFields<T extends object>(before: T | undefined, after: Partial<T>): string[] {
  const old = new Map<string, unknown>(Object.entries(before ?? {}));
  return Object.entries(after)
    .filter(([name, value]) => !silent.has(name) && (old.get(name) ?? null) !== (value ?? null))
    .map(([name]) => name)
    .sort();
}

export function entryView(row: AuditEntryRow): AuditEntry {
  const { actor_kind, actor, changed_fields, ...shown } = row;
  return {
    ...shown,
    actor: { kind: actor_kind, key: actor },
    changed_fields: fromJson(changed_fields),
  };
}
