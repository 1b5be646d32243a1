/**
 * Templates of tools (contract 8.1). They are filled in on the parsed JSON tree: a value can never end the string that
 * contains it, and property names are not templates.
 */
import { asText, fillReferences, lookUp, referenceIn } from '#shared/agent/template.ts';

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** What references can resolve to. */
export interface Scope {
  /** `{{input.<param>}}` */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** every other `{{name}}`: variables of the conversation */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** A template that cannot be filled in with these values. The message is one sentence. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** Most characters that values may add to one rendered template. */
const mostInserted = 1_048_576;

const bracesHere = /\{\{[^{}]+\}\}/y;

/** The parameter of `input.<param>`, with an optional path; null for a variable of the conversation. */
export function inputOf(path: string): string | null {
  return /^input(?:\.([^.[\]]+)|\[(?:'([^']*)'|"([^"]*)")\])/.exec(path)?.slice(1).find(isText) ?? null;
}

/** Every string of a tree that may be a template, with its JSON pointer. */
export function* stringsIn(tree: JsonValue, path: string): Generator<{ path: string; text: string }> {
  if (typeof tree === 'string') yield { path, text: tree };
  if (typeof tree !== 'object' || tree === null) return;
  for (const [name, part] of Object.entries(tree)) yield* stringsIn(part, `${path}/${pointerPart(name)}`);
}

/** The first property whose name contains a reference, as a JSON pointer. */
export function templatedName(tree: JsonValue, path: string): string | null {
  if (typeof tree !== 'object' || tree === null) return null;
  for (const [name, part] of Object.entries(tree)) {
    const below = `${path}/${pointerPart(name)}`;
    if (!Array.isArray(tree) && name.includes('{{')) return below;
    const found = templatedName(part, below);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Parses a template that is JSON text. A reference in place of a JSON value counts as a string that is exactly this
 * reference. Undefined when the text is not JSON.
 */
export function parseTemplate(text: string): JsonValue | undefined {
  try {
    return JSON.parse(quoteBareReferences(text));
  } catch {
    return undefined;
  }
}

function quoteBareReferences(text: string): string {
  let quoted = '';
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (inString && char === '\\') {
      quoted += char + text.charAt(++at);
      continue;
    }
    if (char === '"') inString = !inString;
    bracesHere.lastIndex = at;
    const braces = inString || char !== '{' ? undefined : bracesHere.exec(text)?.[0];
    const bare = braces !== undefined && referenceIn(braces) !== null ? braces : null;
    quoted += bare === null ? char : JSON.stringify(bare);
    if (bare !== null) at += bare.length - 1;
  }
  return quoted;
}

/** Fills templates in, and limits the size of the result. One renderer per request. */
export class Renderer {
  readonly #scope: Scope;
  #left = mostInserted;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  /**
   * Fills in a tree. A string that is exactly one reference keeps the value's type. An omitted input becomes null, or
   * with `absent: 'omit'` its property is left out; an unset variable becomes empty text.
   * @throws TemplateError
   */
  tree(tree: JsonValue, absent: 'null' | 'omit' = 'null'): JsonValue {
    if (typeof tree === 'string') return this.#string(tree) ?? null;
    if (typeof tree !== 'object' || tree === null) return tree;
    if (isList(tree)) return tree.map((part) => this.tree(part, absent));
    const entries = Object.entries(tree).flatMap(([name, part]): [string, JsonValue][] => {
      const value = typeof part === 'string' ? this.#string(part) : this.tree(part, absent);
      if (value === undefined) return absent === 'omit' ? [] : [[name, null]];
      return [[name, value]];
    });
    // fromEntries defines own properties, also of the name __proto__.
    return Object.fromEntries(entries);
  }

  /** Fills in plain text. @param change converts each value @throws TemplateError */
  text(text: string, change: (value: string) => string = (value) => value): string {
    if (!text.includes('{{')) return text;
    return fillReferences(text, (path) => this.#spend(change(asText(this.#value(path)))));
  }

  #string(text: string): JsonValue | undefined {
    const path = referenceIn(text);
    if (path === null) return this.text(text);
    const value = this.#value(path);
    this.#spend(typeof value === 'object' ? JSON.stringify(value) : String(value));
    if (value === undefined) return inputOf(path) === null ? '' : undefined;
    return value as JsonValue;
  }

  #value(path: string): unknown {
    const { inputs, variables } = this.#scope;
    return inputOf(path) === null ? lookUp(variables, path) : lookUp({ input: inputs }, path);
  }

  #spend(text: string): string {
    this.#left -= text.length;
    if (this.#left < 0)
      throw new TemplateError(`the values in the body take more than ${mostInserted} characters`);
    return text;
  }
}

function isList(tree: JsonValue): tree is readonly JsonValue[] {
  return Array.isArray(tree);
}

function isText(part: string | undefined): part is string {
  return part !== undefined;
}

/** Escapes one member of a JSON pointer (RFC 6901 section 3). */
export function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
