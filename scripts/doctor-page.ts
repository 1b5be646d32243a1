/** Writes docs/doctor.md from the list of checks: `node scripts/doctor-page.ts`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checksOf } from './doctor/checks.ts';
import { usage } from './doctor/command.ts';
import { loadParts } from './doctor/parts.ts';

const example = `warning  nat.media_address       10.0.0.5 is a private address, and peers are told to send media there (RTP_PUBLIC_IP is not set)
                                 -> set RTP_PUBLIC_IP to the address at which peers outside reach this machine; …
ok       ports.sip               the engine listens on 5061 (process 4711)`;

export async function doctorPage(): Promise<string> {
  const rows = checksOf(await loadParts()).map(
    ({ name, program, about, bad }) => `| \`${name}\` | ${program} | ${about} | ${bad} |`,
  );
  return `${[
    '# The doctor',
    '`npm run doctor` checks a machine and the settings of its programs, while they run and while they do not. Run it before the first start, when something does not work, and before you ask for help. This page is written by `node scripts/doctor-page.ts`.',
    `    $ npm run doctor\n${example.replaceAll(/^/gm, '    ')}`,
    'Run it as the user of the programs: as another one it cannot read their files. As root it also sees whose ports are in use, and the rules of the firewall. In an installed package the command is `trunkline doctor`; it takes the settings of the service and checks the program of that package. With both packages, `trunkline` is that of control: `/usr/lib/trunkline-edge/bin/trunkline doctor` checks the edge.',
    ['```', usage, '```'].join('\n'),
    '## States',
    [
      '| State | Means |',
      '|---|---|',
      '| `ok` | as it should be |',
      '| `warning` | works, but not for everyone or not for long; the line below says what to do |',
      '| `failed` | does not work; the exit code is 1 |',
      '| `skipped` | could not be checked, and why |',
    ].join('\n'),
    'With `--json` the output is `{ "checks": [ { "name", "program", "state", "found", "advice" } ], "counts": { "ok", "warning", "failed", "skipped" } }`; `advice` is null where there is nothing to do. Neither form has keys, passwords or tokens.',
    'The doctor changes nothing. It reads settings and files, asks name servers, connects to the programs, starts the media worker once and ends it, and writes one file of its own into the data folder to measure the disk, which it removes. What a firewall or a provider in front of the machine does, nobody sees from inside: [test calls](test-calls.md) and [discovery](discovery.md) check that.',
    '## Checks',
    ['| Check | Program | What is checked | Warns or fails when |', '|---|---|---|---|', ...rows].join('\n'),
  ].join('\n\n')}\n`;
}

if (import.meta.main) {
  writeFileSync(join(import.meta.dirname, '..', 'docs', 'doctor.md'), await doctorPage());
}
