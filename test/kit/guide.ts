/** The code blocks of Markdown pages, and a shell that runs them as they stand. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const folder = join(import.meta.dirname, '..', '..', 'docs', 'guides');

export interface Block {
  readonly language: string;
  readonly content: string;
}

export const blocksIn = (page: string): Block[] =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', content = '']) => ({
    language,
    content,
  }));

/** @param name of a guide */
export const guide = (name: string): string => readFileSync(join(folder, `${name}.md`), 'utf8');

const mark = '\u001e';

/** A variable that was read from an answer without it: the commands after it did nothing. */
const nothingMissing = `if set | grep -E '^[A-Z_]+=(null|)$' | grep -v '^BEFORE='; then exit 9; fi`;

export interface ShellOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** of bash, before `pipefail` */
  readonly options?: string;
}

/** Blocks as lines of one shell; {@link outputsOf} has what each has written. */
export const scriptOf = (blocks: readonly Block[]): string =>
  [...blocks.map(({ content }) => `${content}\nprintf '${mark}'`), nothingMissing].join('\n');

/** @param written of a script */
export const outputsOf = (written: string): string[] => written.split(mark);

/** Runs blocks in one shell. @returns what each has written */
export async function runBlocks(
  name: string,
  blocks: readonly Block[],
  { cwd, env, options = '-euo' }: ShellOptions,
): Promise<string[]> {
  const child = spawn('bash', [options, 'pipefail', '-c', scriptOf(blocks)], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, errors, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  if (status !== 0 || errors !== '')
    throw new Error(`${name}: bash ended with ${status}\n${errors}\n${status === 0 ? '' : out}`);
  return outputsOf(out);
}

/** The last JSON value of the output. */
function lastJson(output: string): unknown {
  const starts = [...output.matchAll(/(?:^|\n|(?<=\}))(?=[[{"])/g)].map(({ index }) => index);
  for (const start of starts.reverse()) {
    try {
      return JSON.parse(output.slice(start));
    } catch {
      // It begins further ahead.
    }
  }
  throw new Error(`no JSON at the end of: ${output}`);
}

/** Where an answer differs from what the page shows; empty: it does not. `…` is anything. */
export function differences(shown: unknown, real: unknown, path = ''): string[] {
  if (shown === '…') return real === undefined ? [`${path}: missing`] : [];
  if (Array.isArray(shown)) {
    if (!Array.isArray(real) || real.length < shown.length || (shown.length === 0 && real.length > 0))
      return [`${path}: ${JSON.stringify(real)}`];
    return shown.flatMap((one, index) => differences(one, real[index], `${path}/${index}`));
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof real !== 'object' || real === null) return [`${path}: ${JSON.stringify(real)}`];
    return Object.entries(shown).flatMap(([key, value]) =>
      differences(value, Object.entries(real).find(([name]) => name === key)?.[1], `${path}/${key}`),
    );
  }
  return shown === real ? [] : [`${path}: ${JSON.stringify(real)}`];
}

/** Where answers of commands differ from the JSON below them. @param outputs of the blocks of commands, in order */
export function differencesFrom(blocks: readonly Block[], outputs: readonly string[]): string[] {
  const commands = blocks.filter(({ language }) => language === 'sh');
  return blocks.flatMap(({ language, content }, index) => {
    const before = blocks[index - 1];
    if (language !== 'json' || before?.language !== 'sh') return [];
    const output = outputs[commands.indexOf(before)] ?? '';
    return differences(JSON.parse(content), lastJson(output)).map((one) => `${before.content} ${one}`);
  });
}
