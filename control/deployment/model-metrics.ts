import type { Models } from '#shared/models/models.ts';

/** Requests to language models and their tokens, in the text format of Prometheus. */
export function modelMetrics(models: Models): string {
  const byName = new Map<string, string[]>();
  for (const [series, value] of Object.entries(models.metrics('trunkline_control_'))) {
    const [name = ''] = series.split('{', 1);
    byName.set(name, [...(byName.get(name) ?? []), `${series} ${value}`]);
  }
  return [...byName]
    .map(([name, lines]) => {
      const type = name.endsWith('_total') ? 'counter' : 'gauge';
      return `# TYPE ${name} ${type}\n${lines.join('\n')}\n`;
    })
    .join('');
}
