/** /etc/trunkline/*.env, from the table of settings: every setting of the program with its meaning, all commented out. */
import { type Setting, settingSections } from '#shared/settings/table.ts';
import type { PackageName } from '../command/table.ts';
import { wrapped } from './text.ts';

/** Fixed by the package: the unit has them. */
const fixed: readonly string[] = ['TRUNKLINE_DATA', 'TRUNKLINE_CACHE'];

/** The settings of a program, in their sections; empty sections are left out. */
export function settingsOf(
  program: PackageName,
): readonly { readonly title: string; readonly settings: readonly Setting[] }[] {
  return settingSections
    .map(({ title, settings }) => ({
      title,
      settings: settings.filter(
        (one) => (one.program === program || one.program === 'both') && !fixed.includes(one.name),
      ),
    }))
    .filter(({ settings }) => settings.length > 0);
}

export function settingsFile(program: PackageName): string {
  const parts = settingsOf(program).map(
    ({ title, settings }) => `## ${title}\n\n${settings.map(entry).join('\n\n')}`,
  );
  return `# Settings of trunkline-${program}: man trunkline-${program}(8).
#
# Remove the # in front of a line to set it. A value ends with the line; put quotes around one with blanks.
# Then: systemctl restart trunkline-${program}

${parts.join('\n\n')}
`;
}

function entry({ name, default: value, meaning }: Setting): string {
  return `${wrapped(plain(meaning), 110, '# ')}\n#${name}=${value.includes(' ') ? `"${value}"` : value}`;
}

/** Without the marks of Markdown. */
export function plain(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll('`', '');
}
