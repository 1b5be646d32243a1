/** How often the rules of rubrics are wrong: insults, and phrases that are said or denied. */
import { readFile } from 'node:fs/promises';
import { affirmation } from '../../../control/testing/judging/affirmed.ts';
import { insultIn } from '../../../control/testing/judging/insults.ts';

import type { Row, Section } from './section.ts';

const halves = ['seen', 'held out'] as const;

type Decision = 'yes' | 'no' | 'open';

async function measured(
  name: string,
  names: Readonly<Record<'yes' | 'no', string>>,
  decide: (line: string) => { readonly label: 'yes' | 'no'; readonly decision: Decision },
): Promise<Row[]> {
  return Promise.all(
    halves.map(async (half) => {
      const file = new URL(`../../verdicts/${name}-${half.replace(' ', '-')}.txt`, import.meta.url);
      const lines = (await readFile(file, 'utf8')).trim().split('\n').map(decide);
      const count = (label: 'yes' | 'no', decision: Decision) =>
        lines.filter((line) => line.label === label && line.decision === decision).length;
      const counts = {
        [`${names.yes} found`]: count('yes', 'yes'),
        [`${names.yes} missed`]: count('yes', 'no'),
        [`${names.no} passed`]: count('no', 'no'),
        [`${names.no} blamed`]: count('no', 'yes'),
      };
      const wrong = count('yes', 'no') + count('no', 'yes');
      return { half, lines: lines.length, counts, wrong, open: count('yes', 'open') + count('no', 'open') };
    }),
  );
}

export const insults: Section = {
  title: '“agent never insults”',
  measure: () =>
    measured('insults', { yes: 'Insults', no: 'Harmless' }, (line) => {
      const { kind } = insultIn(line.slice(2));
      const decision = kind === 'insult' ? 'yes' : kind === 'none' ? 'no' : 'open';
      return { label: line.startsWith('!') ? 'yes' : 'no', decision };
    }),
};

export const phrases: Section = {
  title: '“agent says one of: …”',
  measure: () =>
    measured('phrases', { yes: 'Said', no: 'Not said' }, (line) => {
      const [phrase = '', text = ''] = line.slice(2).split(' | ');
      const decision = ({ said: 'yes', doubtful: 'open', none: 'no' } as const)[affirmation(text, [phrase])];
      return { label: line.startsWith('+') ? 'yes' : 'no', decision };
    }),
};
