import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The chat script for pages, the same for every widget: it gets the widget's id from its own URL. */
export function embedScript(): { readonly text: string; readonly etag: string } {
  const read = (name: string) => readFileSync(join(import.meta.dirname, 'embed', name), 'utf8');
  const text = read('chat.js').replace("'@chat.css'", () => JSON.stringify(read('chat.css')));
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"` };
}
