/** What a link to an edge needs from the rest of control. */
import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '#shared/clock.ts';
import type { EdgeConfig, EdgeConfigChange } from '#shared/edge-protocol/config.ts';
import type { CallCountFrame, Learned } from '#shared/edge-protocol/fleet.ts';
import type { Database, Db } from '../db/index.ts';
import type { ConnectedEdge, ConnectedEdges } from './registry.ts';
import type { Reports } from './reports.ts';
import type { SharedEdges } from './shared-edges.ts';
import type { Sightings } from './sightings.ts';

/** The configuration sent to edges (edge-config/store.ts). */
export interface EdgeConfigSource {
  version(): Promise<number>;
  /** The whole current configuration, for one edge. */
  snapshot(edgeId: string): Promise<EdgeConfig>;
  /** Changes after `from`, for one edge. */
  changesSince(from: number, edgeId: string): Promise<EdgeConfigChange>;
  /** Calls `listener` after every published change. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
}

/** The fleet, as far as links need it (control/fleet). */
export interface LinkFleet {
  /** The edge has its welcome. */
  connected(edge: ConnectedEdge): Promise<void>;
  /** What an edge says about its outgoing calls. */
  counted(edge: ConnectedEdge, frame: CallCountFrame): void;
  /** Passes on what was stored of an edge's reports. */
  pass(learned: Omit<Learned, 'type' | 'complete'>): void;
}

export interface LinkParts {
  readonly db: Db;
  readonly database: Pick<Database, 'durable'>;
  readonly clock: Clock;
  readonly config: EdgeConfigSource;
  readonly reports: Reports;
  readonly edges: ConnectedEdges;
  readonly sightings: Sightings;
  readonly fleet: LinkFleet;
  readonly sharedEdges: Pick<SharedEdges, 'opened' | 'ended' | 'stateChanged'>;
  readonly log: FastifyBaseLogger;
  readonly commandTimeoutMs: number;
  /** The edge has lost its outbox, and with it the ends of its calls. */
  readonly outboxLost: (edgeId: string) => Promise<void>;
  /** Called for every stored frame of reports. */
  readonly onReports: (stored: number, rejected: number) => void;
}
