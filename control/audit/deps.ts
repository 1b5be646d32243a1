/** What the audit log needs from the rest of the control plane. */
import type { Database } from '../db/index.ts';

export interface AuditDeps {
  readonly database: Database;
}
