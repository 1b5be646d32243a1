/** Alerts about trunks, and the messages that tell of them. */
import type { DeliveryColumns, IsoTime, Json } from './columns.ts';

/** What the probes of one endpoint came to lately, for alerts. */
export interface TrunkProbeRunRow {
  configuration_id: string;
  host: string;
  port: number;
  checked_at: IsoTime;
  /** When the failures began that have not been broken since; null after a success. */
  failing_since: IsoTime | null;
  /** JSON array of the last successful probes' times in ms, oldest first. */
  response_times: Json;
}

export interface AlertRow {
  id: string;
  org_id: string;
  configuration_id: string;
  number: string;
  direction: 'inbound' | 'outbound';
  endpoint: string | null;
  kind: 'unreachable' | 'failure_rate' | 'response_time';
  /** Both as they were when it was raised: minutes, percent or ms, by kind. */
  threshold: number;
  value: number;
  window_minutes: number | null;
  /** How many evaluations in a row spoke for an end. */
  calm_evaluations: number;
  raised_at: IsoTime;
  resolved_at: IsoTime | null;
}

/** A message about an alert on its way to one person. */
export interface AlertNoticeRow extends DeliveryColumns {
  id: string;
  org_id: string;
  alert_id: string;
  channel: 'email' | 'sms';
  event: 'raised' | 'resolved';
  /** An address or an E.164 number. */
  recipient: string;
  subject: string;
  text: string;
}

export interface AlertsTables {
  trunk_probe_runs: TrunkProbeRunRow;
  alerts: AlertRow;
  alert_notices: AlertNoticeRow;
}
