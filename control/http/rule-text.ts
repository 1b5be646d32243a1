/** The text of the schema rule that a value breaks. */
import type { TSchema } from 'typebox';
import type { Compile } from 'typebox/compile';
import { ruleKeyword } from '#shared/api/common.ts';

export type SchemaError = ReturnType<ReturnType<typeof Compile>['Errors']>[number];

/** "must be integer", "must be one of tls", "must be an e-mail address". */
export function ruleText(schema: TSchema, error: SchemaError): string {
  if (error.keyword === 'enum') return `must be one of ${error.params.allowedValues.map(String).join(', ')}`;
  if (error.keyword === 'const') return `must be ${JSON.stringify(error.params.allowedValue)}`;
  if (error.keyword === 'pattern') {
    const form = resolvePointer(schema, `${error.schemaPath.slice(1)}/${ruleKeyword}`);
    if (typeof form === 'string') return `must be ${form}`;
  }
  return error.message;
}

/** The part of a value at a JSON pointer (RFC 6901), undefined when there is none. */
export function resolvePointer(root: unknown, pointer: string): unknown {
  let part: unknown = root;
  for (const name of pointer.split('/').slice(1)) {
    if (typeof part !== 'object' || part === null) return undefined;
    part = Reflect.get(part, name.replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return part;
}
