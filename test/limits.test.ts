/** docs/limits.md against the settings and the code. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { settings as ofControl } from '../control/settings.ts';
import { settings as ofEdge } from '../edge/settings.ts';

const root = dirname(import.meta.dirname);
const page = readFileSync(join(root, 'docs', 'limits.md'), 'utf8');
const settings: readonly { readonly name: string; readonly default: string }[] = [...ofEdge, ...ofControl];

/** Names that say of a setting that it is a limit. */
const isLimit = /MAX|QUOTA|_PER_|LIMIT|INBOUND_TRIES$|INBOUND_SOURCES|FIRST_MESSAGE_S$|_BYTES$|MEMORY_MB/;
/** The end of a range, and a pause. */
const isNone = /^(RTP_PORT_MAX|REGISTER_RETRY_MAX_S)$/;

const rows = page.split('\n').filter((line) => line.startsWith('| '));
const cells = rows.map((line) => line.slice(2, -2).split(' | '));
const code = (cell: string | undefined) => /^`([^`]*)`$/.exec(cell ?? '')?.[1];

test('every setting that is a limit has its line, and no line is without its setting', () => {
  const limits = new Set(
    settings.map(({ name }) => name).filter((name) => isLimit.test(name) && !isNone.test(name)),
  );
  const named = cells.flatMap(([, name]) => code(name) ?? []);
  expect(named.sort()).toEqual([...limits].sort());
});

test('each default of a setting is the one in use', () => {
  const shown = cells.filter((row) => code(row[1])).map(([, name, value]) => [code(name), code(value) ?? '']);
  const used = shown.map(([name]) => [name, settings.find((setting) => setting.name === name)?.default]);
  expect(shown).toEqual(used);
});

const constants = cells.flatMap(([, where = '', value]) => {
  const [, file, name] = /^`([^`]+\.ts)` `(\w+)`$/.exec(where) ?? [];
  return file && name ? [{ file, name, value: code(value) ?? '' }] : [];
});

test('there are constants on the page', () => {
  expect(constants.length).toBeGreaterThan(15);
});

test.each(constants)('$name of $file is $value', ({ file, name, value }) => {
  const text = readFileSync(join(root, file), 'utf8');
  const literal = new RegExp(`(?:const ${name}\\b[^=]*= |^  ${name}: )([^;,\\n]+)[;,]`, 'm').exec(text)?.[1];
  expect(literal).toBe(value);
});
