/** Connects the schemas to Fastify: bodies are checked as they are, query values are parsed from text. */
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { ApiError, type ErrorItem } from '#shared/errors.ts';
import { QueryCheck } from './query.ts';
import { BodyCheck } from './violations.ts';

export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  switch (httpPart) {
    case 'body': {
      const check = new BodyCheck(schema);
      return (body: unknown) => refused(check.violations(body)) ?? { value: body };
    }
    case 'querystring': {
      const check = new QueryCheck(schema);
      return (query: unknown) => {
        const result = check.read(query);
        return 'errors' in result ? (refused(result.errors) ?? { value: query }) : result;
      };
    }
    default:
      // Routes check path parameters themselves, because a malformed id is a 404 of its resource.
      return (value: unknown) => ({ value });
  }
};

function refused(items: readonly ErrorItem[]): { error: ApiError } | undefined {
  const [first, ...others] = items;
  return first && { error: ApiError.many([first, ...others]) };
}
