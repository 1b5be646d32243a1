/** Loads what tracing needs, if there is a collector. */
import type { TracingOptions, TracingSettings } from './settings.ts';
import type { Tracing } from './tracing.ts';

/** @returns null: there is no collector */
export async function startTracing(
  settings: TracingSettings | null,
  options: TracingOptions,
): Promise<Tracing | null> {
  if (settings === null) return null;
  const { openTracing } = await import('./open-telemetry.ts');
  return openTracing(settings, options);
}
