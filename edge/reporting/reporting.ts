import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Clock, Timer } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { CallCountFrame } from '#shared/edge-protocol/fleet.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { newId } from '#shared/ids.ts';
import { isoTime } from '#shared/iso-time.ts';
import { keepPrivate } from '#shared/private-folder.ts';
import { keyOfFile, SecretBox } from '#shared/secret-box.ts';
import { faultWords, type StorageFault, storageFault } from '#shared/storage-fault.ts';
import { applyChange, ConfigGap, ConfigStore } from './config-store.ts';
import { readOrMake } from './edge-id.ts';
import { GroupSync } from './group-sync.ts';
import { HepListener } from './hep-listener.ts';
import { Link } from './link.ts';
import type { Welcome } from './link-options.ts';
import { MeasuredBatch } from './measured-batch.ts';
import { openOutbox } from './open-outbox.ts';
import { heartbeatMs, type Outbox } from './outbox.ts';
import { logFaults, logGone } from './outbox-faults.ts';
import type { ReportingOptions } from './reporting-options.ts';
import { type CollectedTrace, TraceCollector } from './trace-collector.ts';
import { traceBodies } from './trace-reports.ts';

/** How often the traces of ended calls are checked for late messages, and what was measured is reported, ms. */
const sweepMs = 500;
/** How often failed writes are retried, ms. */
const settleMs = 1_000;

/**
 * All reports from the edge to control, and the configuration from control. Calls continue whether control is reachable
 * or not.
 */
export class Reporting {
  /** Stable over restarts. */
  readonly edgeId: string;
  readonly #options: ReportingOptions;
  readonly #outbox: Outbox;
  readonly #store: ConfigStore;
  readonly #traces: TraceCollector;
  readonly #hep: HepListener;
  readonly #hepKey: string | null;
  readonly #link: Link;
  readonly #sync: GroupSync;
  readonly #measured = new MeasuredBatch();
  /** What control stores; until it has said so, it is taken to store what is measured. */
  #stores: Pick<Welcome, 'storesMeasured' | 'storesRefused'> = { storesMeasured: true, storesRefused: false };
  #config: EdgeConfig | null;
  /** Why the configuration in use could not be stored; null: it was. */
  #configFault: StorageFault | null = null;
  #configFailures = 0;
  #sweep: Timer | null = null;
  #beat: Timer | null = null;
  #settle: Timer | null = null;
  /** Whether control knows which calls are up, and with them, that those of former processes are not. */
  #saidRunning = false;
  /** The disk state reported last. */
  #reportedFault: StorageFault | null = null;
  #reportedRefusal = false;

  private constructor(
    options: ReportingOptions,
    edgeId: string,
    outbox: Outbox,
    hep: HepListener,
    traces: TraceCollector,
    hepKey: string | null,
  ) {
    this.edgeId = edgeId;
    this.#hepKey = hepKey;
    this.#options = options;
    this.#outbox = outbox;
    this.#sync = new GroupSync(options.clock, outbox, () => this.#reportStorage());
    this.#hep = hep;
    this.#traces = traces;
    const key = options.secretKey ?? keyOfFile(join(options.dataDir, 'edge-secret.key'));
    this.#store = new ConfigStore(
      join(options.dataDir, 'edge-config.json'),
      new SecretBox(key),
      (why, file) =>
        options.log('error', `the stored configuration is ${why}: no calls until control sends a new one`, {
          file,
        }),
    );
    this.#config = this.#store.load();
    this.#link = new Link({
      controlUrl: options.controlUrl,
      token: options.edgeToken,
      outbox,
      clock: options.clock,
      ...(options.linkLimits ? { limits: options.linkLimits } : {}),
      hello: () => ({
        type: 'hello',
        protocol: 1,
        edge_id: edgeId,
        outbox_id: outbox.id,
        config_version: this.#config?.version ?? 0,
        ...options.facts,
        ...(options.fleet && { fleet: true }),
      }),
      onConfig: (config) => this.#apply(config),
      onChange: (change) => {
        try {
          if (!this.#config) return false;
          this.#apply(applyChange(this.#config, change));
          return true;
        } catch (error) {
          if (error instanceof ConfigGap) return false;
          throw error;
        }
      },
      onCommand: (command) => options.onCommand(command),
      onWelcome: (welcome) => this.#welcomed(welcome),
      ...(options.fleet && { fleet: options.fleet }),
      metrics: () => ({ ...options.metrics(), ...this.metrics() }),
      log: options.log,
    });
  }

  /**
   * Opens the outbox and the capture port, and closes the records of calls left by a dead process.
   * @throws Error when the folder is not writable or the capture port is in use
   */
  static async open(options: ReportingOptions): Promise<Reporting> {
    const open = keepPrivate(options.dataDir);
    if (open.length > 0)
      options.log(
        'warn',
        'paths of the data folder are accessible to other users: owned by somebody else, or shared (sticky bit)',
        { files: open },
      );
    const edgeId = readOrMake(join(options.dataDir, 'edge-id'), newId);
    const { maxReports, heldBytes } = options;
    const limits = {
      ...(maxReports !== undefined && { maxReports }),
      ...(heldBytes !== undefined && { heldBytes }),
    };
    const outbox = await openOutbox(options.dataDir, limits, options.outboxFiles);
    try {
      logFaults(outbox, options.log);
      const abandoned = outbox.closeAbandonedCalls(iso(options.clock));
      if (abandoned > 0)
        options.log('warn', 'closed the records of calls that were up when the edge died', {
          calls: abandoned,
        });
      const traces = new TraceCollector(options.facts.sip.port, options.traceLimits);
      const { foreign = false, ...wanted } = options.hep ?? { host: '127.0.0.1', port: 0 };
      const key = foreign ? null : randomBytes(24).toString('hex');
      const hep = await HepListener.open({ ...wanted, key }, (packet) =>
        traces.add(packet, options.clock.elapsed()),
      );
      const small = hep.smallBuffer;
      if (small)
        options.log(
          'warn',
          'the receive buffer for trace copies is small: traces may have gaps; raise net.core.rmem_max',
          { ...small },
        );
      return new Reporting(options, edgeId, outbox, hep, traces, key);
    } catch (error) {
      await outbox.close();
      throw error;
    }
  }

  /** The current configuration; null until the first one has arrived. */
  get config(): EdgeConfig | null {
    return this.#config;
  }

  /** Where SIP engines send their HEP copies, and the key required in them. */
  get hep(): { host: string; port: number; key?: string } {
    const key = this.#hepKey === null ? {} : { key: this.#hepKey };
    return { host: this.#options.hep?.host ?? '127.0.0.1', port: this.#hep.port, ...key };
  }

  get connected(): boolean {
    return this.#link.connected;
  }

  /** Whether refused INVITEs may be reported: they get no space in the outbox while control is away. */
  get takesRefused(): boolean {
    return this.#link.connected && this.#stores.storesRefused;
  }

  /** Starts the connection to control. */
  start(): void {
    this.#outbox.heartbeat(iso(this.#options.clock));
    this.#link.start();
    this.#scheduleSweep();
    this.#scheduleBeat();
    this.#scheduleSettle();
    this.#reportStorage();
  }

  /**
   * Stores a report and delivers it. When this returns the report survives the death of the process, and a moment later
   * a loss of power; while the disk fails it is held in memory.
   */
  report(body: ReportBody): void {
    if (body.type === 'measured') {
      if (this.#stores.storesMeasured) this.#measured.add(body.calls, this.#options.clock.elapsed());
      return;
    }
    const call = body.type === 'call' ? body.call : null;
    const trace = call && this.#traceWith(call);
    const measured = call?.ended_at ? this.#measured.take(call.id) : null;
    this.#append(...(measured ? [measured] : []), body, ...(trace ? traceBodies(trace) : []));
  }

  #reportMeasured(): void {
    const measured = this.#measured.take();
    if (measured) this.#append(measured);
  }

  /** Sends the metrics to control now instead of with the next status. */
  sendStatus(): void {
    this.#link.sendStatus();
  }

  /** Sends a frame about this edge's calls; lost without a link. */
  tell(frame: CallCountFrame): void {
    this.#link.tell(frame);
  }

  /** Why no new calls may be taken, one sentence; null: they may. */
  get refusal(): string | null {
    if (!this.#outbox.refuses) return null;
    const why = this.#outbox.fault === null ? '' : ` (${faultWords[this.#outbox.fault]})`;
    return `The edge cannot store its reports${why} and rejects new calls until it can`;
  }

  metrics(): Record<string, number> {
    return {
      trunkline_edge_outbox_pending: this.#outbox.pending,
      trunkline_edge_outbox_dropped_total: this.#outbox.dropped,
      trunkline_edge_outbox_lost_total: this.#outbox.lost,
      trunkline_edge_outbox_files_lost_total: this.#outbox.filesLost,
      trunkline_edge_outbox_held: this.#outbox.held.reports,
      trunkline_edge_outbox_held_bytes: this.#outbox.held.bytes,
      trunkline_edge_storage_failing: Number(this.#fault !== null),
      trunkline_edge_storage_refuses_calls: Number(this.#outbox.refuses),
      trunkline_edge_storage_failures_total: this.#outbox.failures + this.#configFailures,
      trunkline_edge_control_connected: this.#link.connected ? 1 : 0,
      trunkline_edge_control_connections_total: this.#link.connections,
      trunkline_edge_trace_dialogs: this.#traces.size,
      trunkline_edge_trace_overflowed_total: this.#traces.overflowed,
      trunkline_edge_trace_bytes: this.#traces.bytes,
      trunkline_edge_hep_refused_total: this.#hep.refused,
    };
  }

  /** Delivers what it can in a few seconds, then closes everything. The rest is sent after the next start. */
  async close(): Promise<void> {
    this.#sweep?.cancel();
    this.#beat?.cancel();
    this.#settle?.cancel();
    this.#reportLate(Number.POSITIVE_INFINITY);
    this.#reportMeasured();
    this.#settleNow();
    this.#sync.cancel();
    if (this.#link.connected) await this.#link.flush(this.#options.flushMs ?? 3_000);
    this.#link.close();
    await this.#hep.close();
    const { reports } = this.#outbox.held;
    if (reports > 0)
      this.#options.log('error', 'reports are lost: the disk failed until shutdown', { reports });
    await this.#outbox.close();
  }

  /** Some ends of calls may never reach control: it is told which calls are up. */
  #welcomed({ hasForgotten, closesCalls, ...stores }: Welcome): void {
    this.#stores = stores;
    const { log } = this.#options;
    const lost = this.#outbox.countLost();
    if (lost > 0)
      log('error', 'files of the outbox are missing or damaged: reports in them are lost', { reports: lost });
    const calls = this.#outbox.liveCalls;
    if (hasForgotten)
      log('warn', 'the control plane has forgotten reports, as after a restore of its database', {
        calls: calls.length,
      });
    if (!closesCalls || (this.#saidRunning && !hasForgotten)) return;
    this.#saidRunning = true;
    const forgotten = hasForgotten ? calls : [];
    this.#append(...forgotten.map((call): ReportBody => ({ type: 'call', call })), {
      type: 'running',
      call_ids: calls.map(({ id }) => id),
      lost_reports: lost,
    });
  }

  /** Applies a configuration, even if it cannot be stored. */
  #apply(config: EdgeConfig): void {
    this.#config = config;
    this.#keepConfig(config);
    this.#options.onConfig(config);
  }

  #keepConfig(config: EdgeConfig): void {
    try {
      this.#store.save(config);
      this.#configFault = null;
    } catch (error) {
      const fault = storageFault(error);
      if (fault === null) throw error;
      this.#configFault = fault;
      this.#configFailures += 1;
    }
    this.#reportStorage();
  }

  get #fault(): StorageFault | null {
    return this.#outbox.fault ?? this.#configFault;
  }

  #append(...bodies: ReportBody[]): void {
    this.#outbox.append(iso(this.#options.clock), ...bodies);
    this.#sync.appended();
    this.#reportStorage();
    this.#link.notify();
  }

  /** Retries failed writes. */
  #settleNow(): void {
    if (this.#fault === null) return;
    if (this.#configFault !== null && this.#config) this.#keepConfig(this.#config);
    this.#outbox.settle();
    this.#sync.appended();
    this.#reportStorage();
    this.#link.notify();
  }

  /** Reports a change of the disk state: in the log, and to control for its health and alerts. */
  #reportStorage(): void {
    const fault = this.#fault;
    const refuses = this.#outbox.refuses;
    if (fault === this.#reportedFault && refuses === this.#reportedRefusal) return;
    const { log, dataDir } = this.#options;
    const facts = { folder: dataDir, fault, held: this.#outbox.held.reports };
    if (fault === null) log('info', 'all reports are stored again', facts);
    else if (refuses && !this.#reportedRefusal)
      log('error', `rejecting new calls: ${faultWords[fault]}, and report memory is running out`, facts);
    else if (fault !== this.#reportedFault)
      log('error', `${faultWords[fault]}: reports are held in memory, and lost if the edge dies`, facts);
    this.#reportedFault = fault;
    this.#reportedRefusal = refuses;
    this.#link.sendStatus();
  }

  /** The messages collected so far are stored together with the call's answer and its end. */
  #traceWith(call: CallRecord): CollectedTrace | null {
    const now = this.#options.clock.elapsed();
    this.#traces.claim(call.id, call.sip_call_id, now, this.#options.secrets?.(call) ?? []);
    if (call.answered_at === null && call.ended_at === null) return null;
    const trace = this.#traces.take(call.sip_call_id);
    if (call.ended_at !== null) this.#traces.release(call.sip_call_id, now);
    return trace;
  }

  #reportLate(now: number): void {
    const late = this.#traces.sweep(now);
    if (late.length === 0) return;
    this.#append(...late.flatMap(traceBodies));
  }

  #scheduleSweep(): void {
    this.#sweep = this.#options.clock.after(sweepMs, () => {
      this.#reportLate(this.#options.clock.elapsed());
      if (this.#measured.isDue(this.#options.clock.elapsed())) this.#reportMeasured();
      this.#scheduleSweep();
    });
  }

  #scheduleSettle(): void {
    this.#settle = this.#options.clock.after(settleMs, () => {
      this.#settleNow();
      this.#scheduleSettle();
    });
  }

  #scheduleBeat(): void {
    this.#beat = this.#options.clock.after(heartbeatMs, () => {
      const gone = this.#outbox.heartbeat(iso(this.#options.clock));
      logGone(gone, this.#outbox.lost, this.#options.log);
      this.#sync.appended();
      this.#reportStorage();
      this.#scheduleBeat();
    });
  }
}

function iso(clock: Clock): string {
  return isoTime(clock.now());
}
