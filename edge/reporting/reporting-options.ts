/** What reporting needs, and what it passes on. */
import type { Clock } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { EdgeToControl } from '#shared/edge-protocol/frames.ts';
import type { HepListenerOptions } from './hep-listener.ts';
import type { SegmentFiles } from './journal/segment-files.ts';
import type { LinkFleet, LinkLimits } from './link-options.ts';
import type { TraceLimits } from './trace-collector.ts';

type Hello = Extract<EdgeToControl, { type: 'hello' }>;

export interface ReportingOptions {
  /** Folder for the outbox, the stored configuration and the edge's id; created when missing. */
  readonly dataDir: string;
  /** Encrypts the stored configuration, 64 hexadecimal digits; null, absent: the key in the folder. */
  readonly secretKey?: string | null;
  readonly clock: Clock;
  readonly controlUrl: string;
  readonly edgeToken: string;
  /** What the edge reports about itself when it connects. */
  readonly facts: Pick<Hello, 'software' | 'sip' | 'rtp' | 'codecs'>;
  /** `foreign`: the copies come from an engine without a key. */
  readonly hep?: Omit<HepListenerOptions, 'key'> & { readonly foreign?: boolean };
  readonly linkLimits?: LinkLimits;
  readonly traceLimits?: TraceLimits;
  readonly maxReports?: number;
  /** Maximum octets of reports held in memory while the disk fails. */
  readonly heldBytes?: number;
  /** For tests: the files of the outbox. */
  readonly outboxFiles?: (folder: string) => SegmentFiles;
  /** How long closing waits for control to take pending reports, ms; the rest is sent after the next start. */
  readonly flushMs?: number;
  log(level: 'info' | 'warn' | 'error', message: string, facts?: Record<string, unknown>): void;
  /** A configuration has arrived; it counts as applied when this returns. */
  onConfig(config: EdgeConfig): void;
  onCommand(command: EdgeCommand): Promise<void>;
  /** Takes the frames of the fleet; absent: the edge is in none. */
  readonly fleet?: LinkFleet;
  /** Secrets that must be redacted from everything stored of the call: its SRTP keys, its trunk's passwords. */
  secrets?(call: CallRecord): readonly string[];
  /** Metrics of the edge, Prometheus name to value. */
  metrics(): Record<string, number>;
}
