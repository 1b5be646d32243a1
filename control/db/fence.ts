/**
 * Whether running work may still write. Work under a lease or a claim runs inside its fence, and every transaction and
 * every single write of it, through whichever handle, first checks in the database that the lease or claim is still its
 * own. A process that was stopped and continues after its lease has expired can write nothing.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { CompiledQuery, DatabaseConnection } from 'kysely';

export interface Fence {
  /** Of what, for the error. */
  readonly name: string;
  /** Returns a row while it holds, and keeps others from taking over until the transaction ends. */
  readonly check: CompiledQuery<unknown>;
}

/** The lease or claim was lost: another replica has the work, or may take it. What was to be written is not. */
export class FenceLost extends Error {
  override readonly name = 'FenceLost';

  constructor(fence: string) {
    super(`${fence} is no longer held by this replica, so nothing is written under it`);
  }
}

const fences = new AsyncLocalStorage<Fence | null>();
let rejected = 0;

/** Runs `work`, and all that it starts, inside the fence. */
export function insideFence<T>(fence: Fence, work: () => T): T {
  return fences.run(fence, work);
}

/** For what work under a fence causes but does not own: listeners of announcements, other queues. */
export function outsideFences<T>(work: () => T): T {
  return fences.getStore() ? fences.run(null, work) : work();
}

/** Runs later work inside the fence that is around the caller now. */
export function sameFence(): <T>(work: () => T) => T {
  const fence = presentFence();
  return (work) => fences.run(fence, work);
}

/** The fence around the running code; null: none. */
export function presentFence(): Fence | null {
  return fences.getStore() ?? null;
}

/** Call it in a transaction before its first write. @throws FenceLost */
export async function checkFence(connection: DatabaseConnection, fence: Fence): Promise<void> {
  const { rows } = await connection.executeQuery(fence.check);
  if (rows.length > 0) return;
  rejected += 1;
  throw new FenceLost(fence.name);
}

/** Transactions of this process that a fence rejected. */
export function rejectedByFences(): number {
  return rejected;
}
