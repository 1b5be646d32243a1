/** The README's table of settings is the one that the programs read; a failure shows the line to paste. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Setting } from '#shared/setting-reader.ts';
import { settings as control } from '../control/config.ts';
import { settings as edge } from '../edge/config.ts';

const root = join(import.meta.dirname, '..');
/** With the padding of table cells taken out. */
const readme = readFileSync(join(root, 'README.md'), 'utf8').replace(/ +\|/g, ' |');

function lineFor(program: string, { name, default: value, description }: Setting): string {
  return `| \`${name}\` | ${program} |${value === '' ? '' : ` \`${value}\``} | ${description} |`;
}

/** A setting of both programs with one default has one line, with the edge's description. */
function expectedLines(): string[] {
  const inBoth = (one: Setting, others: readonly Setting[]) =>
    others.some(({ name, default: value }) => name === one.name && value === one.default);
  return [
    ...edge.map((setting) => lineFor(inBoth(setting, control) ? 'both' : 'edge', setting)),
    ...control.filter((setting) => !inBoth(setting, edge)).map((setting) => lineFor('control', setting)),
    '| `TRUNKLINE_CACHE` | set-up, edge | `~/.cache/trunkline` | Folder of the built media worker and the test peers. |',
  ];
}

test('the settings in the README are those of the programs, in order', () => {
  expect(
    readme
      .split('\n')
      .filter((line) => line.startsWith('| `') && / \| (both|edge|control|set-up, edge) \| /.test(line)),
  ).toEqual(expectedLines());
});

test.each([...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target ?? ''))(
  'the link to %s leads somewhere',
  (target) => {
    expect(existsSync(join(root, target))).toBe(true);
  },
);
