/** Pieces of the pages under /docs, as text. */

/** Text, safe between tags and in quoted attributes. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** A sentence with `code`. */
export function sentence(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** A block of code; the script of the page adds a button that copies it. Reachable by keyboard, because it scrolls. */
export function codeBlock(text: string, label: string): string {
  return `<pre tabindex="0" role="group" aria-label="${escaped(label)}"><code>${escaped(text)}</code></pre>`;
}

/** The anchor of a heading, as other readers of Markdown make it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}
