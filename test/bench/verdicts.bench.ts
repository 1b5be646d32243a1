/**
 * `npm run bench verdicts`: how often verdicts without a model are wrong, on labelled lines of which tests see one half.
 * One file of `verdicts/` for each subject.
 */

import { confidence, plantedFaults } from './verdicts/faults.ts';
import { injections } from './verdicts/injections.ts';
import { questions } from './verdicts/questions.ts';
import { insults, phrases } from './verdicts/rubrics.ts';
import { sectionTable } from './verdicts/section.ts';

/** Where its tables are stored. */
export const page = 'docs/agent-testing.md';

const sections = [insults, phrases, questions, injections, plantedFaults, confidence];

export function runVerdictsBench(): Promise<string[]> {
  return Promise.all(sections.map(async (section) => sectionTable(section, await section.measure())));
}

export function formatVerdictsBench(tables: readonly string[]): string {
  return tables.join('\n\n');
}
