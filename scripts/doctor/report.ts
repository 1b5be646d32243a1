/** Results for people, and for programs. Pure. */
import { counted } from '#shared/counted.ts';
import type { CheckState, Result } from './check.ts';

const colours: Readonly<Record<CheckState, number>> = { ok: 32, warning: 33, failed: 31, skipped: 90 };

function countsOf(results: readonly Result[]): Record<CheckState, number> {
  const counts = { ok: 0, warning: 0, failed: 0, skipped: 0 };
  for (const { state } of results) counts[state] += 1;
  return counts;
}

/** @param coloured with escape sequences for a terminal */
export function reportText(results: readonly Result[], coloured: boolean): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  const paint = (text: string, state: CheckState) =>
    coloured ? `\u001b[${colours[state]}m${text}\u001b[0m` : text;
  const lines = results.flatMap(({ name, state, found, advice }) => [
    `${paint(state.padEnd(7), state)}  ${name.padEnd(width)}  ${found}`,
    ...(advice === null ? [] : [`${' '.repeat(9 + width)}  -> ${advice}`]),
  ]);
  const { ok, warning, failed, skipped } = countsOf(results);
  return `${lines.join('\n')}\n\n${ok} ok, ${counted(warning, 'warning')}, ${failed} failed, ${skipped} skipped`;
}

export function reportJson(results: readonly Result[]): string {
  return JSON.stringify({ checks: results, counts: countsOf(results) }, null, 2);
}
