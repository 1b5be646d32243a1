/** An edge that is linked to another replica. */
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import type { FleetFrame } from '#shared/edge-protocol/fleet.ts';
import { fromJson } from '../db/index.ts';
import { Unanswered } from './command-rules.ts';
import type { ConnectedEdge } from './registry.ts';
import type { RemoteCommands } from './remote-commands.ts';
import type { LinkedRow } from './shared-store.ts';
import type { EdgePlan } from './store.ts';

/** Beside its metrics: whether it takes part in the fleet. */
export const inFleetGauge = 'in_fleet';

export class RemoteEdge implements ConnectedEdge {
  readonly isOpen = true;
  readonly #commands: RemoteCommands;
  #row: LinkedRow;
  #metrics: Readonly<Record<string, number>>;
  #codecs: readonly string[];
  #ordered = 0;
  #isSilent = false;

  constructor(row: LinkedRow, commands: RemoteCommands) {
    this.#row = row;
    this.#metrics = metricsOf(row);
    this.#codecs = fromJson(row.codecs);
    this.#commands = commands;
  }

  update(row: LinkedRow): void {
    // It has reported its calls since.
    if (row.last_seen_at !== this.#row.last_seen_at) {
      this.#ordered = 0;
      this.#isSilent = false;
    }
    this.#row = row;
    this.#metrics = metricsOf(row);
    this.#codecs = fromJson(row.codecs);
  }

  get edgeId(): string {
    return this.#row.id;
  }

  get appliedVersion(): number {
    return this.#row.applied_version;
  }

  get sip(): ConnectedEdge['sip'] {
    const { sip_host: host, sip_port: port, wss_port } = this.#row;
    return { host, port, ...(wss_port !== null && { wss_port }) };
  }

  get rtp(): ConnectedEdge['rtp'] {
    const { rtp_ip, rtp_port_min, rtp_port_max } = this.#row;
    return { ip: rtp_ip, port_min: rtp_port_min, port_max: rtp_port_max };
  }

  get codecs(): readonly string[] {
    return this.#codecs;
  }

  get metrics(): Readonly<Record<string, number>> {
    return this.#metrics;
  }

  get ordered(): number {
    return this.#ordered;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  get plan(): EdgePlan {
    return this.#row;
  }

  async command(command: EdgeCommand): Promise<void> {
    if (command.kind === 'call.place' || command.kind === 'test_call.run') this.#ordered++;
    try {
      await this.#commands.send(this.#row, command);
    } catch (error) {
      if (error instanceof Unanswered) this.#isSilent = true;
      throw error;
    }
  }

  get inFleet(): boolean {
    return this.#metrics[inFleetGauge] === 1;
  }

  tell(frame: FleetFrame): void {
    this.#commands.tell(this.#row, frame);
  }

  /** Its own replica closes it. */
  close(): void {}
}

function metricsOf({ gauges }: LinkedRow): Readonly<Record<string, number>> {
  return gauges === null ? {} : fromJson(gauges);
}
