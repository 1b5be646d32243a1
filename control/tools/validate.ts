/** Validates values against the schemas of tools and actions. */
import type { TSchema } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { withinTime } from './within-time.ts';

const mostListed = 20;

export interface Violation {
  /** JSON pointer into the value */
  readonly path: string;
  readonly rule: string;
}

/**
 * All violations of a schema, 20 at most. The schema is interpreted, not compiled to code, because customers write it,
 * and it has a time limit, because it may take forever.
 * @param ms CPU time limit
 * @throws OutOfTime
 */
export function violations(
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  ms: number,
): readonly Violation[] {
  const type: TSchema = schema;
  try {
    return withinTime(ms, () => (Check(type, value) ? [] : Errors(type, value).flatMap(translate)))
      .filter(({ rule }) => rule !== '')
      .slice(0, mostListed);
  } catch (error) {
    if (error instanceof RangeError) {
      return [{ path: '', rule: 'is too deep to be checked against the schema' }];
    }
    throw error;
  }
}

type SchemaError = ReturnType<typeof Errors>[number];

function translate(error: SchemaError): Violation[] {
  const { instancePath: path } = error;
  switch (error.keyword) {
    case 'boolean':
      return [];
    case 'required':
      return error.params.requiredProperties.map((name) => ({ path: `${path}/${name}`, rule: 'required' }));
    case 'additionalProperties':
      return error.params.additionalProperties.map((name) => ({
        path: `${path}/${name}`,
        rule: 'not a known property',
      }));
    case 'enum':
      return [{ path, rule: `must be one of ${error.params.allowedValues.map(String).join(', ')}` }];
    default:
      return [{ path, rule: error.message }];
  }
}
