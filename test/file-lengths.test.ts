/** A file is one idea: over 400 lines it says at its top why it is long. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.dirname);
const folders = ['shared', 'outgoing', 'edge', 'control', 'clients', 'console', 'scripts', 'test'];
const mostLines = 400;
/** Lines at the top of a file in which a reader looks for the reason. */
const topLines = 40;
/** The reason, in a comment: `Long because it is one table, in the order of the RFC.` */
const reason = /^\s*(?:\/\*\*|\*|\/\/) .*\bLong because \S+ \S+/m;

function isTooLong(text: string): boolean {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.length > mostLines && !reason.test(lines.slice(0, topLines).join('\n'));
}

test('no file is over 400 lines without a reason in it', () => {
  const files = [
    ...readdirSync(root).filter((name) => name.endsWith('.ts')),
    ...folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.(?:tsx?|js|mjs|css)$/.test(name))
        .map((name) => join(folder, name)),
    ),
  ];
  expect(files.length).toBeGreaterThan(1000);
  const tooLong = files.filter((file) => isTooLong(readFileSync(join(root, file), 'utf8')));
  expect(tooLong, 'split by subject, or write "Long because …" in the first comment').toEqual([]);
});

test('a reason is a comment near the top', () => {
  const long = (top: string) => `${top}\n${'const line = 1;\n'.repeat(mostLines)}`;
  expect(isTooLong('const line = 1;\n'.repeat(mostLines))).toBe(false);
  expect(isTooLong(long('/** One table. */'))).toBe(true);
  expect(isTooLong(long('/** Long because it is one table. */'))).toBe(false);
  expect(isTooLong(long('/**\n * One table.\n * Long because it is one table.\n */'))).toBe(false);
  expect(isTooLong(long('// Long because'))).toBe(true);
  expect(isTooLong(long("const text = 'Long because it is one table';"))).toBe(true);
  expect(isTooLong(`${long('')}/** Long because it is one table. */\n`)).toBe(true);
});
