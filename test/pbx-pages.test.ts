/** The pages of `docs/pbx/` show the texts that the API and the console give. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pbxExample } from '#shared/pbx/example.ts';
import { knownSystems, pbxFiles, pbxName, pbxNames } from '#shared/pbx/text.ts';

const page = (name: string) =>
  readFileSync(join(import.meta.dirname, '..', 'docs', 'pbx', `${name}.md`), 'utf8');

test.each(knownSystems)('the page of %s has its files', (system) => {
  const files = pbxFiles(system, pbxExample) ?? [];
  expect(files.length).toBeGreaterThan(0);
  for (const { path, text } of files) {
    expect(page(pbxName(system))).toContain(`\`${path}\`:\n\n\`\`\`\n${text}\n\`\`\``);
  }
});

test('the overview names every system that the API knows', () => {
  for (const name of pbxNames) expect(page('README')).toContain(`\`${name}\``);
});
