/** All migrations in their order. Forward only: a released file is never edited, a new one is added. */
import type { Migration } from 'kysely/migration';
import { up as organizations } from './0001-organizations.ts';
import { up as numbers } from './0002-numbers.ts';
import { up as edgesAndCalls } from './0003-edges-and-calls.ts';
import { up as organizationSettings } from './0004-organization-settings.ts';
import { up as outboundCalls } from './0005-outbound-calls.ts';
import { up as trunkHealth } from './0006-trunk-health.ts';
import { up as trunkChecks } from './0007-trunk-checks.ts';
import { up as webhooks } from './0008-webhooks.ts';

export const migrations: Readonly<Record<string, Migration>> = {
  '0001-organizations': { up: organizations },
  '0002-numbers': { up: numbers },
  '0003-edges-and-calls': { up: edgesAndCalls },
  '0004-organization-settings': { up: organizationSettings },
  '0005-outbound-calls': { up: outboundCalls },
  '0006-trunk-health': { up: trunkHealth },
  '0007-trunk-checks': { up: trunkChecks },
  '0008-webhooks': { up: webhooks },
};
