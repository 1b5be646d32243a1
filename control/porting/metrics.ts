/** Metrics of porting. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Gate } from './gate.ts';

export interface PortingMetrics {
  /** Counts one document. */
  document(outcome: 'stored' | 'infected' | 'unscanned'): void;
  /** Counts one attempt to send a mail. */
  mail(kind: string, outcome: string): void;
  /** Counts one exchange with the carrier. */
  carrier(step: string, ok: boolean): void;
}

export function portingMetrics(registry: Registry, gate: Gate): PortingMetrics {
  const registers = [registry];
  const documents = new Counter({
    name: 'trunkline_control_port_documents_total',
    help: 'Uploaded documents: stored; infected, according to the virus scan; or unscanned, because the scan failed, and not stored.',
    labelNames: ['outcome'],
    registers,
  });
  const mails = new Counter({
    name: 'trunkline_control_port_mails_total',
    help: 'Attempts to send mails about ports: delivered, to be retried, or given up.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const carrier = new Counter({
    name: 'trunkline_control_port_carrier_attempts_total',
    help: 'Exchanges with the porting API of the carrier, by step.',
    labelNames: ['step', 'outcome'],
    registers,
  });
  new Gauge({
    name: 'trunkline_control_port_uploads',
    help: 'Uploads in progress; at most 8.',
    registers,
    collect() {
      this.set(gate.inside);
    },
  });
  return {
    document: (outcome) => documents.inc({ outcome }),
    mail: (kind, outcome) => mails.inc({ kind, outcome }),
    carrier: (step, ok) => carrier.inc({ step, outcome: ok ? 'ok' : 'failed' }),
  };
}
