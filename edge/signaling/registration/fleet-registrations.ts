/** What the other edges of the fleet know about registrations. */
import type { LearnedRegistration, Refusal } from '#shared/edge-protocol/fleet.ts';
import type { RefusedRegistration } from './refused-registrations.ts';

/** The fleet, as registrations need it. */
export interface RegistrationFleet {
  readonly edgeId: string;
  /** Where this edge takes calls. */
  readonly address: { readonly host: string; readonly port: number };
  /** Whether this edge registers for an organization at a registrar. */
  isOurs(orgId: string, host: string): boolean;
}

export class FleetRegistrations {
  readonly #fleet: RegistrationFleet | null;
  /** By record. */
  readonly #learned = new Map<string, LearnedRegistration>();

  /** @param fleet null: the edge registers everything */
  constructor(fleet: RegistrationFleet | null) {
    this.#fleet = fleet;
  }

  isOurs(orgId: string, host: string): boolean {
    return this.#fleet?.isOurs(orgId, host) ?? true;
  }

  /** Forgets records that are no longer configured. */
  keepOnly(isConfigured: (trunkId: string) => boolean): void {
    for (const id of this.#learned.keys()) if (!isConfigured(id)) this.#learned.delete(id);
  }

  /** @returns what the other edge's binding means for ours: it is `beside` ours, has `replaced` it, or nothing */
  learn(registration: LearnedRegistration): 'beside' | 'replaced' | null {
    this.#learned.set(registration.trunk_id, registration);
    const { registered, edge } = registration;
    if (!this.#fleet || !registered || edge.id === this.#fleet.edgeId) return null;
    const { host, port } = this.#fleet.address;
    // Edges with one public address have one Contact, which a registrar binds once (RFC 3261 section 10.3).
    return edge.host === host && edge.port === port ? 'replaced' : 'beside';
  }

  /** Address of the registrar that granted a record's binding to another edge; null: not known. */
  boundAt(trunkId: string): string | null {
    return this.#learned.get(trunkId)?.bound_at ?? null;
  }

  /** The rejection that another edge got. @param changedAt of the record: what is older no longer counts */
  refusalOf(trunkId: string, changedAt: string | null): RefusedRegistration | null {
    const learned = this.#learned.get(trunkId);
    if (!learned?.refusal || (changedAt !== null && learned.at < changedAt)) return null;
    const { until, pause_ms: pauseMs, sip_code: sipCode, error } = learned.refusal;
    return { until: Date.parse(until), pauseMs, sipCode, error };
  }
}

export function refusalReport(refused: RefusedRegistration | null): Refusal | null {
  if (refused === null) return null;
  const { until, pauseMs, sipCode, error } = refused;
  return {
    until: new Date(until).toISOString(),
    pause_ms: Math.round(pauseMs),
    sip_code: sipCode,
    error,
  };
}
