/** Manual pages, from the tables of commands and settings. */
import type { CommandRow, Phrase } from '../command/table.ts';
import { dataFolder, type Plan, settingsFileOf } from './plan.ts';
import { plain, settingsOf } from './settings-files.ts';

export interface Edition {
  readonly version: string;
  /** Seconds since 1970. */
  readonly epoch: number;
}

/** trunkline(1), with the commands of a package. */
export async function commandPage(rows: readonly CommandRow[], edition: Edition): Promise<string> {
  const sections = await Promise.all(rows.map(commandSection));
  return page('trunkline', 1, edition, 'commands of a Trunkline deployment', [
    [
      'SYNOPSIS',
      [
        '.B trunkline',
        '.I command',
        '.RI [ options ]',
        '.br',
        '.B trunkline \\-\\-help',
        '.br',
        '.B trunkline \\-\\-version',
      ],
    ],
    [
      'DESCRIPTION',
      paragraph(
        'Works on the deployment of this machine. Commands that open the data folder run as the user trunkline and with the settings of the service; call them as root. "trunkline <command> --help" shows the options of a command, and those that answer data print it as JSON with --json.',
      ),
    ],
    ['COMMANDS', sections.flat()],
    [
      'EXIT STATUS',
      paragraph(
        '0 when the command did what it was asked, 1 when it did not; of agent-test 1 when scenarios failed, and 2 for an error of the command or the server.',
      ),
    ],
    [
      'FILES',
      [
        ...entry('/etc/trunkline/control.env, /etc/trunkline/edge.env', 'settings of the services'),
        ...entry(dataFolder, 'the data folder'),
      ],
    ],
    ['SEE ALSO', ['.BR trunkline\\-control (8),', '.BR trunkline\\-edge (8)']],
  ]);
}

/** trunkline-control(8) or trunkline-edge(8). */
export function programPage(plan: Plan, edition: Edition): string {
  const { name, program, summary, description, other } = plan;
  const settings = settingsOf(program).flatMap(({ title, settings: some }) => [
    `.SS ${escaped(title)}`,
    ...some.flatMap((one) =>
      entry(one.name, `${plain(one.meaning)}${one.default === '' ? '' : ` Default: ${one.default}.`}`),
    ),
  ]);
  return page(name, 8, edition, summary, [
    ['SYNOPSIS', [`.B systemctl start ${escaped(name)}`, '.br', `.B journalctl \\-u ${escaped(name)}`]],
    [
      'DESCRIPTION',
      [
        ...paragraph(description),
        ...paragraph(
          `It runs as the user trunkline. SIGTERM ends it in order${program === 'edge' ? ': it takes no new calls, and ends after the last one, at the latest after DRAIN_TIMEOUT_S; "systemctl reload" loads new certificate files' : ''}. After a change of its settings: systemctl restart ${name}.`,
        ),
      ],
    ],
    ['SETTINGS', [...paragraph(`In ${settingsFileOf(plan)}; an empty value counts as unset.`), ...settings]],
    [
      'FILES',
      [
        ...entry(settingsFileOf(plan), 'its settings; readable for the group trunkline alone'),
        ...entry(dataFolder, `database, keys, certificates and reports, shared with ${other} on one machine`),
      ],
    ],
    ['SEE ALSO', ['.BR trunkline (1),', `.BR ${escaped(other)} (8)`]],
  ]);
}

async function commandSection({ name, takes, help, options, phrases }: CommandRow): Promise<string[]> {
  const some = phrases ? await phrases() : [];
  return [
    '.TP',
    `.BR ${escaped(name)}${takes === '' ? '' : ` " ${escaped(takes)}"`}`,
    line(`${help}.`),
    ...(options.length === 0 || some.length > 0
      ? []
      : ['.br', line(`Options: ${options.map((option) => `--${option}`).join(', ')}.`)]),
    ...(some.length === 0 ? [] : ['.RS', ...some.flatMap(phraseEntry), '.RE']),
  ];
}

function phraseEntry({ text, takes, help }: Phrase): string[] {
  const [first = '', ...more] = help.split('\n');
  return [
    '.TP',
    `.BR "${escaped(text)}"${takes === '' ? '' : ` " ${escaped(takes)}"`}`,
    line(first),
    ...more.flatMap((one) => ['.br', line(one)]),
  ];
}

type Section = readonly [title: string, lines: readonly string[]];

function page(
  name: string,
  section: number,
  { version, epoch }: Edition,
  summary: string,
  sections: readonly Section[],
): string {
  const date = new Date(epoch * 1000).toISOString().slice(0, 10);
  const body = sections.flatMap(([title, lines]) => [`.SH ${title}`, ...lines]);
  return [
    `.TH ${name.toUpperCase().replaceAll('-', '\\-')} ${section} ${date} "Trunkline ${version}"`,
    '.SH NAME',
    `${escaped(name)} \\- ${escaped(summary)}`,
    ...body,
    '',
  ].join('\n');
}

const entry = (name: string, meaning: string) => ['.TP', `.B ${escaped(name)}`, line(meaning)];
const paragraph = (text: string) => ['.PP', line(text)];

/** A line of text: one that begins with a dot or an apostrophe would be a request. */
function line(text: string): string {
  return escaped(text).replace(/^(?=[.'])/, '\\&');
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll(
      /[^\x20-\x7e]/g,
      (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}
