/** Checks the input of a tool. Faults have their place, so that an assistant can correct them. */
import type { jsonSchemaValidator } from '@modelcontextprotocol/server';
import { Value } from 'typebox/value';

/** The library's own check says that there is an unknown property, but not which one. */
export const inputCheck: jsonSchemaValidator = {
  getValidator:
    <T>(schema: object) =>
    (input: unknown) => {
      const faults = Value.Errors(schema, input)
        .filter(({ keyword }) => keyword !== 'additionalProperties')
        .map(({ instancePath, keyword, message }) => {
          const text = keyword === 'boolean' ? 'not a known property' : message;
          return instancePath ? `${instancePath}: ${text}` : text;
        });
      return faults.length === 0
        ? { valid: true, data: input as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: faults.join('; ') };
    },
};
