/** Inputs that several tools have. */
import { Type } from 'typebox';

export const id = (description: string) => Type.String({ minLength: 1, maxLength: 128, description });
export const optionalId = (description: string) => Type.Optional(id(description));
export const phoneNumber = Type.String({ minLength: 3, maxLength: 64, description: 'E.164: +14155550100' });

/** @param most largest page, which keeps an answer within its size */
export const paged = (most: number, usual: number) => ({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: most, description: `Items of the page; default: ${usual}` }),
  ),
  before: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'next of the previous page' }),
  ),
});

/** Lists that go on by a number of items. */
export const skipped = (most: number, usual: number) => ({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: most, description: `Items of the page; default: ${usual}` }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'Items to skip' })),
});

export const since = {
  from_date: Type.Optional(Type.String({ maxLength: 40, description: 'Date or ISO time, inclusive' })),
  to_date: Type.Optional(
    Type.String({ maxLength: 40, description: 'Date (with its whole day) or ISO time, exclusive' }),
  ),
};

export const closed = { additionalProperties: false } as const;
