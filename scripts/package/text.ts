/** Lines of a limited width. */

/** @param prefix of each line; the width includes it */
export function wrapped(text: string, width: number, prefix: string): string {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || prefix.length + longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => `${prefix}${line}`.trimEnd()).join('\n');
}
