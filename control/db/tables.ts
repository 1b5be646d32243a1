/** The stored rows: one file per area, collected here. */
import type { Kysely } from 'kysely';
import type { AgentTestingTables } from './tables/agent-testing.ts';
import type { AgentsTables } from './tables/agents.ts';
import type { AlertsTables } from './tables/alerts.ts';
import type { CallsTables } from './tables/calls.ts';
import type { EdgesTables } from './tables/edges.ts';
import type { EventsTables } from './tables/events.ts';
import type { OrganizationsTables } from './tables/organizations.ts';
import type { PhoneSessionsTables } from './tables/phone-sessions.ts';
import type { PortingTables } from './tables/porting.ts';
import type { RecordingsTables } from './tables/recordings.ts';
import type { ReplicasTables } from './tables/replicas.ts';
import type { SipTables } from './tables/sip.ts';
import type { ToolsTables } from './tables/tools.ts';
import type { WatchesTables } from './tables/watches.ts';
import type { WidgetsTables } from './tables/widgets.ts';
import type { WorkTables } from './tables/work.ts';

export type * from './tables/agent-testing.ts';
export type * from './tables/agents.ts';
export type * from './tables/alerts.ts';
export type * from './tables/calls.ts';
export type * from './tables/columns.ts';
export type * from './tables/edges.ts';
export type * from './tables/events.ts';
export type * from './tables/organizations.ts';
export type * from './tables/phone-sessions.ts';
export type * from './tables/porting.ts';
export type * from './tables/recordings.ts';
export type * from './tables/replicas.ts';
export type * from './tables/sip.ts';
export type * from './tables/tools.ts';
export type * from './tables/watches.ts';
export type * from './tables/widgets.ts';
export type * from './tables/work.ts';

export interface Tables
  extends AgentTestingTables,
    AgentsTables,
    AlertsTables,
    CallsTables,
    EdgesTables,
    EventsTables,
    OrganizationsTables,
    PhoneSessionsTables,
    PortingTables,
    RecordingsTables,
    ReplicasTables,
    SipTables,
    ToolsTables,
    WatchesTables,
    WidgetsTables,
    WorkTables {}

/** A database or one of its transactions. */
export type Db = Kysely<Tables>;
