import type { Variables } from './interfaces.ts';

const reference = /\{\{([^{}]+)\}\}/g;
/** Longer ones are text. */
const longestPath = 256;

/** The path that a text refers to as a whole, without its braces; null: it does not. */
export function referenceIn(text: string): string | null {
  return text.startsWith('{{') && text.endsWith('}}') ? pathIn(text.slice(2, -2)) : null;
}

function pathIn(inside: string): string | null {
  const path = inside.trim();
  return path === '' || path.length > longestPath || /[{}]/.test(path) ? null : path;
}

/** The paths that a text refers to, in order. */
export function referencesIn(text: string): string[] {
  return [...text.matchAll(reference)].flatMap(([, inside = '']) => pathIn(inside) ?? []);
}

/** A text with other words in place of its references. */
export function fillReferences(text: string, valueAt: (path: string) => string): string {
  return text.replace(reference, (whole, inside: string) => {
    const path = pathIn(inside);
    return path === null ? whole : valueAt(path);
  });
}

/**
 * Fills `{{name}}` in a text: dots and `[n]` access objects and arrays, an unset variable becomes empty text
 * (contract 8.1), objects are written as JSON.
 */
export function fillTemplate(text: string, variables: Variables): string {
  if (!text.includes('{{')) return text;
  return fillReferences(text, (path) => asText(lookUp(variables, path)));
}

/** The same inside a JSON text: values are escaped for the inside of a JSON string. */
export function fillJsonTemplate(text: string, variables: Variables): string {
  if (!text.includes('{{')) return text;
  return fillReferences(text, (path) => JSON.stringify(asText(lookUp(variables, path))).slice(1, -1));
}

/**
 * The same for instructions to a language model: each value is put in double quotes, with its own quotes and line ends
 * escaped, so that a person's words cannot pass for the author's.
 */
export function fillQuoted(text: string, variables: Variables): string {
  if (!text.includes('{{')) return text;
  return fillReferences(text, (path) => JSON.stringify(asText(lookUp(variables, path))));
}

/**
 * The same for the target of a call. A value that stands in an author's text is a number, a name or a part of one: its
 * `;`, `?`, `@`, `<` and `>` are escaped as in a URI (RFC 3261 section 25.1), so that what a caller says or presses
 * brings no parameter, header or host of its own. A variable that is the whole text is a target as it is.
 */
export function fillTarget(text: string, variables: Variables): string {
  if (referenceIn(text.trim()) !== null) return fillTemplate(text, variables);
  return fillReferences(text, (path) =>
    asText(lookUp(variables, path)).replace(
      /[;?@<>]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
  );
}

/** The value at a dotted path (`$.a.b[0]`, `a.b.0`), or undefined. Own properties only. */
export function lookUp(root: unknown, path: string): unknown {
  const steps = path
    .replace(/^\$\.?/, '')
    .replace(/\[(?:'([^']*)'|"([^"]*)"|(\d+))\]/g, '.$1$2$3')
    .split('.')
    .filter((step) => step !== '');
  let value: unknown = root;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

/** A value as text within other text. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
