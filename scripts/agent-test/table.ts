/** The results of a batch, for a person at a terminal. */
import { counted } from '#shared/counted.ts';
import { usageSum } from '#shared/usage-sum.ts';
import type { Batch, Run } from './api.ts';

export function resultTable({ runs, status }: Batch): string {
  const width = Math.max(8, ...runs.map(({ scenario }) => [...oneLine(scenario.name)].length));
  const passed = runs.filter((run) => run.status === 'PASSED').length;
  return [
    `${'scenario'.padEnd(width)}  status     score   seconds`,
    ...runs.flatMap((run) => [line(run, width), ...reasons(run)]),
    ...usageLines(runs),
    `${status}: ${passed} of ${runs.length} passed`,
  ].join('\n');
}

function line({ duration_ms, overall_score, scenario, status }: Run, width: number): string {
  const name = oneLine(scenario.name);
  const padding = ' '.repeat(width - [...name].length);
  const score = overall_score === null ? '-' : overall_score.toFixed(2);
  const seconds = duration_ms === null ? '-' : (duration_ms / 1000).toFixed(1);
  return `${name}${padding}  ${status.padEnd(9)}  ${score.padEnd(6)}  ${seconds}`;
}

/** Tokens and cost of all runs; nothing when no model was asked. */
function usageLines(runs: readonly Run[]): string[] {
  const told = runs.flatMap(({ usage }) => (usage === null ? [] : [usage]));
  const { cost, currency, input_tokens, output_tokens, runs_without_cost } = usageSum(
    runs.map(({ usage }) => usage),
  );
  const missing = [...new Set(told.flatMap(({ unknown }) => unknown))];
  if (input_tokens + output_tokens === 0 && missing.length === 0) return [];
  const price = cost === null ? 'not known' : `${cost} ${currency ?? ''}`.trim();
  const without =
    runs_without_cost > 0 && cost !== null ? `, without ${counted(runs_without_cost, 'run')}` : '';
  return [
    `tokens: ${input_tokens} in, ${output_tokens} out; cost: ${price}${without}`,
    ...missing.slice(0, 3).map((sentence) => `    ${oneLine(sentence)}`),
  ];
}

/** Reasons of up to three failed required assertions; without any, the reason of the run. */
function reasons({ assertion_results, reason }: Run): string[] {
  const unmet = assertion_results
    .filter(({ is_required, passed }) => is_required && !passed)
    .slice(0, 3)
    .map(({ name, reasoning, type }) => `    ${oneLine(name ?? type)}: ${oneLine(reasoning)}`);
  return reason === undefined ? unmet : [...unmet, `    ${oneLine(reason)}`];
}

/** Without terminal control characters, and no workflow command: the log of a CI job obeys lines that begin so. */
export function oneLine(text: string): string {
  const plain = text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/^::/, ': :')
    .replaceAll('##[', '## [');
  return plain.length > 160 ? `${plain.slice(0, 159)}…` : plain;
}
