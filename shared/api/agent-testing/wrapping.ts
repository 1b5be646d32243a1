/** Success bodies of the testing group: the object itself, repeated in `data` (contract 1.2). */
import { type TObject, type TProperties, Type } from 'typebox';
import { NoErrors } from '#shared/api/common.ts';

/** Schema of a response with these properties. */
export const Testing = <P extends TProperties>(properties: P) =>
  Type.Object({
    ...properties,
    data: Type.Object(properties, { description: 'The same as beside it' }),
    errors: NoErrors(),
  }) as TestingSchema<P>;

type TestingSchema<P extends TProperties> = TObject<
  P & { data: TObject<P>; errors: ReturnType<typeof Type.Null> }
>;

/** For any deletion. */
export const TestingDeleted = Testing({ deleted: Type.Literal(true, { description: 'Always true' }) });

/** Wraps a response object. */
export function testing<T extends object>(data: T): T & { data: T; errors: null } {
  return { ...data, data, errors: null };
}
