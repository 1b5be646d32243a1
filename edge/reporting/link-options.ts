/** What the link to control needs, and what it passes on. */
import type { Clock } from '#shared/clock.ts';
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import type { EdgeConfig, EdgeConfigChange } from '#shared/edge-protocol/config.ts';
import type { FleetFrame } from '#shared/edge-protocol/fleet.ts';
import type { EdgeToControl } from '#shared/edge-protocol/frames.ts';
import type { RetryLimits } from './link-rules.ts';
import type { Outbox } from './outbox.ts';

export interface LinkLimits extends RetryLimits {
  /** Maximum reports in one frame. */
  readonly batchReports: number;
  /** Maximum octets of report bodies in one frame; a larger report is sent alone. */
  readonly batchBytes: number;
  /** Maximum frames sent and not yet acknowledged. */
  readonly window: number;
  /** How long reports are collected before a frame is sent, ms. */
  readonly gatherMs: number;
  /** Ping interval, and silence after which the connection counts as lost, ms. */
  readonly pingMs: number;
  readonly deadMs: number;
  /** Interval of status frames, ms. */
  readonly statusMs: number;
  /** Time limit for the WebSocket to open, ms. */
  readonly openMs: number;
}

/** What a control plane is able to do. */
export interface ControlAbilities {
  /** It decides who does what in the fleet. */
  readonly fleet: boolean;
  /** It counts the calls of all edges. */
  readonly countsCalls: boolean;
}

/** What control says on a new link about what it has. */
export interface Welcome {
  /** It has less than it has acknowledged: its database was restored. */
  readonly hasForgotten: boolean;
  /** It closes the calls that the edge no longer has. */
  readonly closesCalls: boolean;
  /** It stores what is measured on calls. */
  readonly storesMeasured: boolean;
  /** It stores refused INVITEs. */
  readonly storesRefused: boolean;
}

export interface LinkFleet {
  welcomed(control: ControlAbilities): void;
  receive(frame: FleetFrame): void;
}

export interface LinkOptions {
  /** http(s) base URL of the control plane. */
  readonly controlUrl: string;
  readonly token: string;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly limits?: LinkLimits;
  /** 0..1; jitter of the attempts. Default: Math.random. */
  readonly random?: () => number;
  /** The first frame of each connection. */
  hello(): Extract<EdgeToControl, { type: 'hello' }>;
  onConfig(config: EdgeConfig): void;
  /** False: the change does not match the edge's version, and the full configuration is needed. */
  onChange(change: EdgeConfigChange): boolean;
  onCommand(command: EdgeCommand): Promise<void>;
  /** There is a new link, and everything is as control knows it. Reports go out after this. */
  readonly onWelcome?: (welcome: Welcome) => void;
  /** Frames of the fleet, and the welcome of a control plane. */
  readonly fleet?: LinkFleet;
  metrics(): Record<string, number>;
  log(level: 'info' | 'warn' | 'error', message: string, facts?: Record<string, unknown>): void;
}
