/** What each Debian package is: its program, the commands in it, and what it needs of the system. */
import { type CommandRow, commandTable, type PackageName } from '../command/table.ts';

export interface Plan {
  readonly program: PackageName;
  /** Of the Debian package and the unit. */
  readonly name: string;
  readonly other: string;
  readonly summary: string;
  readonly description: string;
  /** First files of the programs in it. */
  readonly entries: readonly string[];
  readonly commands: readonly CommandRow[];
  /** What a program reads and no import names: files and folders of the project. */
  readonly data: readonly string[];
  readonly depends: readonly string[];
  readonly recommends: readonly string[];
  readonly suggests: readonly string[];
  /** Among the alternatives for /usr/bin/trunkline: control has all commands. */
  readonly priority: number;
}

const commandsOf = (program: PackageName) =>
  commandTable.filter(({ packages }) => packages.includes(program));

/** Node and native modules need these; the names are those of Debian 12 and of Debian 13. */
const runtime = ['adduser', 'libgcc-s1', 'libstdc++6'];

const first = 'scripts/trunkline.ts';

function plan(
  program: PackageName,
  rest: Omit<Plan, 'program' | 'name' | 'other' | 'commands' | 'entries'> & {
    readonly programs: readonly string[];
  },
): Plan {
  const commands = commandsOf(program);
  const { programs, ...more } = rest;
  return {
    ...more,
    program,
    name: `trunkline-${program}`,
    other: `trunkline-${program === 'edge' ? 'control' : 'edge'}`,
    commands,
    entries: [
      ...programs,
      first,
      ...commands.flatMap((row) => [row.file, row.parts?.[program] ?? []].flat()),
    ],
  };
}

export const plans: readonly Plan[] = [
  plan('control', {
    programs: ['control/main.ts'],
    summary: 'control plane for voice agents on SIP trunks',
    description:
      'Configuration, call logs, SIP traces, call quality and tests of voice agents over an HTTP API, with a console for the browser. SIP edges (trunkline-edge) connect to it.',
    data: [
      'README.md',
      'clients/typescript/README.md',
      'control/deployment/docs/browser',
      'control/widgets/embed',
      'docs',
    ],
    depends: runtime,
    recommends: [],
    suggests: ['trunkline-edge', 'postgresql'],
    priority: 20,
  }),
  plan('edge', {
    programs: ['edge/main.ts', 'edge/engine/main.ts'],
    summary: 'SIP edge for voice agents: TLS and SRTP',
    description:
      'Answers and places calls of carriers and PBXs over TLS with SRTP, and connects them to voice agents. It is configured by a control plane (trunkline-control), on this machine or another one.',
    data: [],
    depends: [...runtime, 'libopus0', 'libssl3t64 | libssl3', 'libuv1t64 | libuv1'],
    recommends: ['libbcg729-0', 'libspandsp2t64 | libspandsp2'],
    suggests: ['trunkline-control'],
    priority: 10,
  }),
];

export const homeOf = ({ name }: Pick<Plan, 'name'>) => `/usr/lib/${name}`;
export const settingsFileOf = ({ program }: Pick<Plan, 'program'>) => `/etc/trunkline/${program}.env`;
export const dataFolder = '/var/lib/trunkline';
export const user = 'trunkline';
