/** Where spans go. The packages of OpenTelemetry read the other OTEL_EXPORTER_OTLP_… variables themselves. */
import type { SettingReader } from '#shared/settings/reader.ts';

export interface TracingSettings {
  /** Of a collector, without `/v1/traces`. */
  readonly endpoint: string;
}

export interface TracingOptions {
  readonly service: 'trunkline-edge' | 'trunkline-control';
  readonly version: string;
  /** The collector takes no spans; called once, and again after it took some. */
  readonly failing: (error: Error) => void;
}

/** @throws SettingError */
export function readTracing(
  read: Pick<SettingReader<'OTEL_EXPORTER_OTLP_ENDPOINT'>, 'url'>,
): TracingSettings | null {
  const endpoint = read.url('OTEL_EXPORTER_OTLP_ENDPOINT');
  return endpoint === null ? null : { endpoint: endpoint.replace(/\/+$/, '') };
}
