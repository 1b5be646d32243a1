/** What a property means, where its schema says only its form: the reference of the API shows it. */
import type { TSchema } from 'typebox';

/** The same schema with a description. Goes inside `Type.Optional`: a copy loses that mark. */
export const described = <T extends TSchema>(schema: T, description: string) => ({ ...schema, description });
