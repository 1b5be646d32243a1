/** Which member of a union a value was meant to be. */
import type { TSchema } from 'typebox';

/**
 * The union member that the sender probably meant: the object whose constant members match, else the one whose `type`
 * matches, else the only member of the value's JSON type.
 */
export function meantVariant(variants: readonly unknown[], value: unknown): TSchema | undefined {
  const schemas = flattened(variants);
  if (!isRecord(value)) {
    const sameType = schemas.filter((schema) => isOfType(value, schema.type) && !('const' in schema));
    return sameType.length === 1 ? sameType[0] : undefined;
  }
  const objects = schemas.filter((schema) => schema.type === 'object');
  const agreeing = objects.filter((schema) => constantsAgree(schema, value));
  const ofType = objects.filter((schema) => typeAgrees(schema, value));
  return [agreeing, ofType, objects].find((chosen) => chosen.length === 1)?.[0];
}

/** The members of a union, including those of nested unions. */
function flattened(variants: readonly unknown[]): Record<string, unknown>[] {
  return variants
    .filter(isRecord)
    .flatMap((schema) => (Array.isArray(schema.anyOf) ? flattened(schema.anyOf) : [schema]));
}

function isOfType(value: unknown, type: unknown): boolean {
  return type === jsonType(value) || (type === 'integer' && Number.isInteger(value));
}

function typeAgrees(schema: Record<string, unknown>, value: Record<string, unknown>): boolean {
  const type = isRecord(schema.properties) ? schema.properties.type : undefined;
  return isRecord(type) && 'const' in type && type.const === value.type;
}

function constantsAgree(schema: Record<string, unknown>, value: Record<string, unknown>): boolean {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  return Object.entries(properties).every(
    ([name, property]) => !isRecord(property) || !('const' in property) || property.const === value[name],
  );
}

/** The property that distinguishes the objects of a union, and its possible values; null if there is none. */
export function discriminator(
  variants: readonly unknown[],
): { readonly name: string; readonly values: readonly unknown[] } | null {
  const objects = flattened(variants).filter(
    (schema) => schema.type === 'object' && isRecord(schema.properties),
  );
  const [first] = objects;
  if (!first || !isRecord(first.properties)) return null;
  for (const name of Object.keys(first.properties)) {
    const values = objects.map(({ properties }) => {
      const member = isRecord(properties) ? properties[name] : undefined;
      return isRecord(member) && 'const' in member ? member.const : undefined;
    });
    if (!values.includes(undefined) && new Set(values).size > 1)
      return { name, values: [...new Set(values)] };
  }
  return null;
}

/** The rule for a value that matches no union member. */
export function unionRule(variants: readonly unknown[]): string {
  const names = flattened(variants).map((schema) => {
    const kind = isRecord(schema.properties) ? schema.properties.type : undefined;
    if ('const' in schema) return JSON.stringify(schema.const);
    return isRecord(kind) && 'const' in kind
      ? `an object of type ${JSON.stringify(kind.const)}`
      : schema.type;
  });
  return `must be ${[...new Set(names)].join(' or ')}`;
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
