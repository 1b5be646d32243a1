/** Alerts about trunks, and the messages that tell of them. */
import type { Json } from '../json.ts';
import type { DeliveryColumns, IsoTime } from './columns.ts';

/** The recent probes of one endpoint, for alerts. */
export interface TrunkProbeRunRow {
  configuration_id: string;
  host: string;
  port: number;
  checked_at: IsoTime;
  /** Start of the current failures; null after a success. */
  failing_since: IsoTime | null;
  /** JSON array of the last successful probes' times in ms, oldest first. */
  response_times: Json<number[]>;
}

export interface AlertRow {
  id: string;
  org_id: string;
  /** Of `watch_drift`: the watch. */
  configuration_id: string;
  /** Empty: a watch over the calls of all numbers. */
  number: string;
  /** Means nothing with `watch_drift`. */
  direction: 'inbound' | 'outbound';
  endpoint: string | null;
  kind: 'unreachable' | 'failure_rate' | 'response_time' | 'certificate_expiring' | 'watch_drift';
  /** Both as of when it was raised: minutes, percent, ms or days, by kind. */
  threshold: number;
  value: number;
  window_minutes: number | null;
  /** Normal evaluations in a row. */
  calm_evaluations: number;
  raised_at: IsoTime;
  resolved_at: IsoTime | null;
}

/** A notice of an alert to one recipient. */
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
