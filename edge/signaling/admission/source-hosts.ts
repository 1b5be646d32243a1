/** Addresses of the hosts that trunks name, resolved again every few minutes (contract 2.1). */

import type { Clock, Timer } from '#shared/clock.ts';
import { type ResolveHost, systemAddresses } from '#shared/judged-lookup.ts';
import type { Log } from '../../call/log.ts';

/** Maximum per host: a customer's DNS must not be able to make the whole Internet known. Carriers have tens. */
const mostAddresses = 100;
/** SRV targets resolved per host: each may have many addresses. */
const mostTargets = 20;

/**
 * All addresses of a host according to the system.
 * @param targets its `_sips._tcp` targets (RFC 3263 section 4.1): calls may come from them, too
 * @throws Error when it has none
 */
export async function resolveSource(host: string, targets: readonly string[] = []): Promise<string[]> {
  const names = [host.replace(/^\[|\]$/g, ''), ...targets.slice(0, mostTargets)];
  const found = await Promise.allSettled(names.map(systemAddresses));
  const addresses = found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  if (addresses.length === 0) throw new Error(`${host} has no address`);
  return [...new Set(addresses)].sort();
}

export interface SourceHostsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** All addresses of a host. Rejects when it has none. */
  readonly resolve: ResolveHost;
  readonly refreshMs: number;
  /** Called when the addresses have changed. */
  readonly changed: () => void;
}

export class SourceHosts {
  readonly #options: SourceHostsOptions;
  readonly #addresses = new Map<string, readonly string[]>();
  #hosts: ReadonlySet<string> = new Set();
  #timer: Timer | null = null;
  #closed = false;

  constructor(options: SourceHostsOptions) {
    this.#options = options;
  }

  /** The current addresses. A host that cannot be resolved keeps its previous ones. */
  get addresses(): ReadonlyMap<string, readonly string[]> {
    return this.#addresses;
  }

  /** Sets the hosts to follow; new ones are resolved at once. */
  follow(hosts: Iterable<string>): void {
    this.#hosts = new Set(hosts);
    for (const known of this.#addresses.keys()) if (!this.#hosts.has(known)) this.#addresses.delete(known);
    void this.#lookUp([...this.#hosts].filter((host) => !this.#addresses.has(host)));
    if (this.#hosts.size > 0) {
      this.#timer ??= this.#options.clock.after(this.#options.refreshMs, () => this.#refresh());
    } else {
      this.#timer?.cancel();
      this.#timer = null;
    }
  }

  /** Adds addresses learned for a host by other means; they stay until its next lookup. */
  learn(host: string, addresses: readonly string[]): void {
    const known = this.#addresses.get(host) ?? [];
    const all = this.#kept(host, [...new Set([...known, ...addresses])].sort());
    if (this.#closed || !this.#hosts.has(host) || all.length === known.length) return;
    this.#addresses.set(host, all);
    this.#options.changed();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  #kept(host: string, addresses: readonly string[]): readonly string[] {
    if (addresses.length <= mostAddresses) return addresses;
    this.#options.log.warn(
      { host, addresses: addresses.length, kept: mostAddresses },
      "a trunk's host has too many addresses: calls from the excess ones are treated as unknown",
    );
    return addresses.slice(0, mostAddresses);
  }

  #refresh(): void {
    this.#timer = this.#options.clock.after(this.#options.refreshMs, () => this.#refresh());
    void this.#lookUp([...this.#hosts]);
  }

  async #lookUp(hosts: readonly string[]): Promise<void> {
    const { resolve, log, changed } = this.#options;
    let altered = false;
    await Promise.all(
      hosts.map(async (host) => {
        try {
          const addresses = this.#kept(host, await resolve(host));
          if (!this.#hosts.has(host)) return;
          altered ||= addresses.join() !== this.#addresses.get(host)?.join();
          this.#addresses.set(host, addresses);
        } catch (error) {
          log.warn(
            { host, error: String(error) },
            "a trunk's host cannot be resolved: calls from it are treated as unknown",
          );
        }
      }),
    );
    if (altered && !this.#closed) changed();
  }
}
