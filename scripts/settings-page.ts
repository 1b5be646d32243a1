/** Writes docs/settings.md from the table of settings: `node scripts/settings-page.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Amount, quotas, retention } from '#shared/settings/amounts.ts';
import { formerSettings } from '#shared/settings/former.ts';
import { type SettingProgram, settingSections } from '#shared/settings/table.ts';

const programs: Readonly<Record<SettingProgram, string>> = {
  control: 'control',
  edge: 'edge',
  both: 'both',
  'set-up': 'set-up, control, edge',
};

export function settingsPage(): string {
  return `${[
    '# Settings',
    'Environment variables of the edge, the control plane, or both. What an operator does not change is a constant in the code; those that limit something are in [limits.md](limits.md). This page is written by `node scripts/settings-page.ts`.',
    'How values are written:',
    [
      '- The unit is in the name: `_S` is seconds, `_DAYS` days, `_PER_MINUTE` a rate. Other numbers are ports and counts.',
      '- Yes or no is `true` or `false`. Lists have commas between their entries.',
      '- `QUOTAS` and `RETENTION_DAYS` are lists of `kind=number`; a kind that is not listed keeps its default.',
      '- An empty variable counts as unset. In the tables, an empty default means unset.',
    ].join('\n'),
    'With an invalid value, or one of the [settings of earlier versions](#settings-of-earlier-versions), the program does not start, and its last log line names the setting.',
    ...settingSections.map(section),
    '## Settings of earlier versions',
    `These ${Object.keys(formerSettings).length} are rejected at the start of either program, so that no old value is ignored in silence.`,
    formerTable(),
  ].join('\n\n')}\n`;
}

function section({ title, settings }: (typeof settingSections)[number]): string {
  const rows = settings.map((one) => [
    code(one.name),
    programs[one.program],
    one.default === '' ? '' : code(one.default),
    one.meaning,
  ]);
  const amounts = settings.flatMap(({ name }) => {
    if (name === 'QUOTAS') return [amountTable(name, 'Most per organization, unless said otherwise', quotas)];
    return name === 'RETENTION_DAYS' ? [amountTable(name, 'Days that are kept', retention)] : [];
  });
  return [`## ${title}`, table(['Name', 'Program', 'Default', 'Meaning'], rows), ...amounts].join('\n\n');
}

function amountTable(name: string, meaning: string, amounts: Readonly<Record<string, Amount>>): string {
  const rows = Object.entries(amounts).map(([kind, { default: value, meaning }]) => [
    code(kind),
    value === null ? 'no limit' : code(String(value)),
    meaning,
  ]);
  return table([`Kind in \`${name}\``, 'Default', meaning], rows);
}

function formerTable(): string {
  const rows = Object.entries(formerSettings).map(([name, fate]) => [code(name), now(fate)]);
  return table(['Name', 'Now'], rows);
}

function now(fate: (typeof formerSettings)[string]): string {
  if (typeof fate === 'function') return sentence(fate('…'));
  if ('fixed' in fate) return `Fixed: ${fate.fixed} (\`${fate.file}\`).`;
  const unit = fate.times === 1 ? '' : `, in octets (1 MB is ${fate.times})`;
  return `Set ${fate.list}=${fate.kind}=…${unit}.`;
}

const code = (text: string) => `\`${text}\``;
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/,$/, '')}.`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

if (import.meta.main) {
  writeFileSync(join(import.meta.dirname, '..', 'docs', 'settings.md'), settingsPage());
}
