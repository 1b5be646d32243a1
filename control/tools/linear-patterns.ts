/**
 * Regular expressions of customers' schemas on an engine with linear running time. JSON Schema means ECMAScript
 * expressions; features that this engine lacks (look-around, backreferences) are rejected on writing.
 */
import { RE2JS } from 're2js';
import { isObject } from '#shared/agent/graph-problem.ts';

/** Why an expression cannot be used; null if it can. */
export function patternProblem(text: string): string | null {
  try {
    new RegExp(text, 'u');
  } catch {
    return 'must be a regular expression';
  }
  if (compiled(text)) return null;
  return 'must be a regular expression without look-around and back references, which RE2 does not have';
}

/** Whether a check by a schema takes a predictable time: with patterns it does, with name patterns it does not. */
export function isSteadySchema(schema: unknown): boolean {
  return schemasIn(schema).every(
    (part) =>
      part.patternProperties === undefined &&
      (typeof part.pattern !== 'string' || compiled(part.pattern) !== null),
  );
}

/** The schema with its patterns replaced by linear ones, which the check accepts as expressions. */
export function withLinearPatterns(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return replaced(schema) as Record<string, unknown>;
}

function replaced(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(replaced);
  if (!isObject(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([word, value]) => {
      const engine = word === 'pattern' && typeof value === 'string' ? compiled(value) : null;
      return [word, engine ? new LinearExpression(String(value), engine) : replaced(value)];
    }),
  );
}

function schemasIn(part: unknown): Readonly<Record<string, unknown>>[] {
  if (Array.isArray(part)) return part.flatMap(schemasIn);
  if (!isObject(part)) return [];
  return [part, ...Object.values(part).flatMap(schemasIn)];
}

/** The parts of an expression that the check uses: `test`, and its text for messages. */
class LinearExpression extends RegExp {
  readonly #text: string;
  readonly #engine: RE2JS;

  constructor(text: string, engine: RE2JS) {
    super('');
    this.#text = text;
    this.#engine = engine;
  }

  override test(value: string): boolean {
    return this.#engine.matcher(value).find();
  }

  override toString(): string {
    return this.#text;
  }
}

const mostKept = 500;
const kept = new Map<string, RE2JS | null>();

/** Null for what RE2 does not support. Compiling costs more than most matches, so recent ones are cached. */
function compiled(text: string): RE2JS | null {
  const known = kept.get(text);
  if (known !== undefined) return known;
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size >= mostKept) kept.delete(oldest);
  const engine = compile(text);
  kept.set(text, engine);
  return engine;
}

function compile(text: string): RE2JS | null {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(text));
  } catch {
    return null;
  }
}
