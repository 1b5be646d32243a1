/** Files of settings as systemd reads them (systemd.exec(5), EnvironmentFile=). */

/**
 * The variables of a file. Quotes end where they began; outside single quotes a backslash takes the next character as it
 * is, and continues the line at its end. A `#` or `;` is a comment only at the beginning of a line.
 * @throws Error naming the line
 */
export function readEnvironmentFile(text: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const lines = text.replaceAll('\\\n', '').split('\n');
  lines.forEach((line, index) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#') || trimmed.startsWith(';')) return;
    const [, name, value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(trimmed) ?? [];
    if (name === undefined) throw new Error(`line ${index + 1} is not NAME=value: ${trimmed.slice(0, 40)}`);
    const plain = unquoted(value);
    if (plain === null) throw new Error(`line ${index + 1}: the quote in the value of ${name} does not end`);
    found[name] = plain;
  });
  return found;
}

/** @returns null when a quote does not end */
function unquoted(value: string): string | null {
  let result = '';
  let quote: string | null = null;
  for (let at = 0; at < value.length; at++) {
    const character = value.charAt(at);
    if (character === '\\' && quote !== "'") result += value.charAt(++at);
    else if (quote === character) quote = null;
    else if (quote === null && (character === '"' || character === "'")) quote = character;
    else result += character;
  }
  return quote === null ? result : null;
}
