/** The edge's current configuration, in the forms needed by its parts. */
import type { BlockList } from 'node:net';
import type { EdgeConfig, OrgConfig, PathwayConfig } from '#shared/edge-protocol/config.ts';
import type { NumberConfig } from '#shared/edge-protocol/numbers.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';

export class CurrentConfig {
  #pathways = new Map<string, PathwayConfig>();
  #organizations = new Map<string, OrgConfig>();
  #numbers = new Map<string, NumberConfig>();
  #organizationsWithNumbers = 0;
  /** Passwords of trunks, by trunk id. */
  #passwords = new Map<string, string>();
  #allowedNetworks: readonly string[] = [];
  #allowedTargets = parseNetworks([]);
  #targetsChanged: (networks: readonly string[]) => void = () => {};

  apply(config: EdgeConfig): void {
    this.#pathways = new Map(
      config.pathways.map((pathway) => [`${pathway.pathway_id}@${pathway.version}`, pathway]),
    );
    this.#organizations = new Map(
      config.organizations.map((organization) => [organization.org_id, organization]),
    );
    this.#numbers = new Map(config.numbers.map((number) => [number.number, number]));
    this.#organizationsWithNumbers = new Set(config.numbers.map(({ org_id }) => org_id)).size;
    this.#passwords = new Map(config.numbers.flatMap(passwordsOf));
    this.#allowedNetworks = config.allowed_private_targets;
    this.#allowedTargets = parseNetworks(this.#allowedNetworks);
    this.#targetsChanged(this.#allowedNetworks);
  }

  readonly pathway = (id: string, version: number): PathwayConfig | undefined =>
    this.#pathways.get(`${id}@${version}`);

  readonly organization = (id: string): OrgConfig | undefined => this.#organizations.get(id);

  readonly organizationsWithNumbers = (): number => this.#organizationsWithNumbers;

  readonly number = (number: string): NumberConfig | undefined => this.#numbers.get(number);

  /** The password of a trunk or registration; undefined: none. */
  readonly password = (trunkId: string): string | undefined => this.#passwords.get(trunkId);

  readonly allowedTargets = (): BlockList => this.#allowedTargets;

  /** @param listener receives the private networks that may be contacted, now and with every configuration: CIDR blocks */
  watchTargets(listener: (networks: readonly string[]) => void): void {
    this.#targetsChanged = listener;
    listener(this.#allowedNetworks);
  }
}

function passwordsOf({ inbound, outbound }: NumberConfig): [string, string][] {
  return [
    ...inbound.map(
      ({ id, registration, digest }) => [id, registration?.password ?? digest?.password] as const,
    ),
    ...outbound.map(({ id, credentials }) => [id, credentials?.password] as const),
  ].flatMap(([id, password]): [string, string][] => (password === undefined ? [] : [[id, password]]));
}
