/** Guides of the API, typed by a reader who has the packages. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksIn, differencesFrom, guide, outputsOf, scriptOf } from '../kit/guide.ts';
import type { Deployment } from './deployment.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');

export const page = (name: string): string => readFileSync(join(docs, name), 'utf8');

/** The only match of a pattern in a page. @throws Error when the page has none */
export function shownIn(name: string, pattern: RegExp): string {
  const found = pattern.exec(page(name))?.[1];
  if (found === undefined) throw new Error(`docs/${name} does not show ${pattern}`);
  return found;
}

/** What docs/guides/README.md has them do before. @returns the lines that set the variables */
async function prepareReader({ machine }: Deployment): Promise<string> {
  const install = shownIn('guides/README.md', /Debian: `apt-get (install curl jq)`/);
  await machine.apt(install.split(' '));
  return shownIn(
    'guides/README.md',
    /packages\.md\), as root:\n\n((?: {4}export TRUNKLINE_\w+=.*\/var\/lib\/trunkline\/.*\n){2})/,
  );
}

/** docs/guides/first-call.md from its first block to its last, in one shell. */
export async function firstCall(deployment: Deployment): Promise<void> {
  const { machine } = deployment;
  const variables = await prepareReader(deployment);
  const call = /^ {4}(trunkline call) .*packages.*$/m;
  const text = guide('first-call');
  machine.check(call.test(text), 'docs/guides/first-call.md says how a reader with packages calls');
  const blocks = blocksIn(text.replace(call, '```sh\n$1\n```'));
  const commands = blocks.filter(({ language }) => language === 'sh');
  const { code, stdout, output } = await machine.shell(`${variables}\n${scriptOf(commands)}`);
  const outputs = outputsOf(stdout);
  const wrong = code === 0 ? differencesFrom(blocks, outputs) : [`it ended with ${code}`, output];
  machine.check(
    wrong.length === 0 && output === stdout,
    `docs/guides/first-call.md: its ${commands.length} blocks print what it shows`,
    [...wrong, output].join('\n'),
  );
  machine.check(
    outputs.at(-2)?.includes('Acme, good morning.') === true,
    'the call that it reads has the first sentence of its agent',
    outputs.at(-2),
  );
}
