/** What failed, as workflow commands that GitHub shows at a pull request. */
import { counted } from '#shared/counted.ts';
import type { Run } from './api.ts';
import type { ScenarioResult } from './repeats.ts';

export function annotations(results: readonly ScenarioResult[]): string[] {
  return results
    .filter(({ passed, runs }) => passed < runs.length)
    .map(({ name, passed, runs }) => {
      const failed = runs.filter(({ status }) => status !== 'PASSED');
      const share = runs.length > 1 ? `${passed} of ${counted(runs.length, 'run')} passed. ` : '';
      const text = `${share}${failed.slice(0, 1).map(whyOf).join('')}`;
      return `::error title=${property(`Agent test: ${name}`)}::${message(text)}`;
    });
}

function whyOf({ assertion_results, id, reason, status }: Run): string {
  const unmet = assertion_results.filter(({ is_required, passed }) => is_required && !passed);
  const parts = unmet.map(({ name, reasoning, type }) => `${name ?? type}: ${reasoning}`);
  return [status, reason, ...parts, `run ${id}`].filter((part) => part !== undefined).join('\n');
}

/** Words of callers must not become commands. */
function message(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return message(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
