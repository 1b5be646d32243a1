/**
 * The chat script for pages: the modules of `embed/`, joined to one classic script without imports. A page loads it
 * with one request, and it reads its own script element, which modules do not have. Their top-level names must differ.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, 'embed');
/** Runs the others, so it comes last. */
const entry = 'chat.js';
/** Adds the call button to what the entry has started. */
const voice = 'voice.js';

export interface EmbedScript {
  readonly text: string;
  readonly etag: string;
}

/**
 * The same for every widget: it gets the widget's id from its own URL.
 * @param phonePath of the visitors' phone; null: for widgets that take no calls
 */
export function embedScript(phonePath: string | null): EmbedScript {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const others = readdirSync(folder).filter(
    (name) => name.endsWith('.js') && name !== entry && name !== voice,
  );
  const names = [...others.sort(), entry, ...(phonePath === null ? [] : [voice])];
  const text = `(() => {\n${names.map((name) => withoutImports(read(name))).join('\n')}})();\n`
    .replace("'@chat.css'", () => JSON.stringify(read('chat.css')))
    .replace("'@phone'", () => JSON.stringify(phonePath));
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"` };
}

function withoutImports(module: string): string {
  return module.replace(/^import [^;]*;\n/gm, '').replace(/^export /gm, '');
}
