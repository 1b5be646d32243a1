/** The pages of `docs/pbx/` show the texts that the API and the console give. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { audiocodesPages } from '#shared/pbx/audiocodes.ts';
import { pbxExample } from '#shared/pbx/example.ts';
import { ribbonPages } from '#shared/pbx/ribbon.ts';
import { knownSystems, pbxFiles, pbxName, pbxNames } from '#shared/pbx/text.ts';
import { threeCxPages } from '#shared/pbx/three-cx.ts';
import type { WebPage } from '#shared/pbx/web-pages.ts';

const page = (name: string) =>
  readFileSync(join(import.meta.dirname, '..', 'docs', 'pbx', `${name}.md`), 'utf8');

/** Systems that are configured in pages of their own have tables here. */
const inPages: Readonly<Record<string, readonly WebPage[]>> = {
  AudioCodes: audiocodesPages(pbxExample),
  Ribbon: ribbonPages(pbxExample),
  '3CX': threeCxPages({ ...pbxExample, access: { how: 'register', username: 'acme-trunk' } }),
};

const table = ({ place, makes, fields }: WebPage): string =>
  [
    `**${place}**${makes === undefined ? '' : `, ${makes}`}:\n`,
    '| Field | Value |',
    '|---|---|',
    ...fields.map(
      ([name, entry]) => `| ${name} | ${typeof entry === 'string' ? `\`${entry}\`` : entry.own} |`,
    ),
  ].join('\n');

test.each(Object.entries(inPages))('the page of %s has what is entered where', (system, pages) => {
  for (const one of pages) expect(page(pbxName(system))).toContain(`${table(one)}\n\n`);
});

const inFiles = knownSystems.filter((system) => !(system in inPages));

test.each(inFiles)('the page of %s has its files', (system) => {
  const files = pbxFiles(system, pbxExample) ?? [];
  expect(files.length).toBeGreaterThan(0);
  for (const { path, text } of files) {
    expect(page(pbxName(system))).toContain(`\`${path}\`:\n\n\`\`\`\n${text}\n\`\`\``);
  }
});

test('the overview names every system that the API knows', () => {
  for (const name of pbxNames) expect(page('README')).toContain(`\`${name}\``);
});
