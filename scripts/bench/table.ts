/**
 * A Markdown table of a benchmark's result, for benchmarks without their own format: one line per row, or one line per
 * value for a single object.
 */
export function markdownTable(result: unknown): string {
  const rows = Array.isArray(result)
    ? result
    : Object.entries(Object(result)).map(([what, value]) => ({ what, value }));
  const columns = Object.keys(rows[0] ?? {});
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const body = rows.map((row: Record<string, unknown>) => line(columns.map((column) => cell(row[column]))));
  return [line(columns.map(words)), line(columns.map(() => '---')), ...body].join('\n');
}

function cell(value: unknown): string {
  if (typeof value === 'number') return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
  return typeof value === 'string' ? words(value) : String(value ?? '');
}

/** `callsPerSecond` becomes `calls per second`. */
function words(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, (_, before, upper) => `${before} ${upper.toLowerCase()}`);
}
