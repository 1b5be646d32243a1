/** Webhook deliveries of an organization (contract 13.1). */
import { type Static, Type } from 'typebox';
import { Integer, Iso, NextPage, Nullable, OneOf, PathId, Plain, Text } from '#shared/api/common.ts';
import { described } from '#shared/described.ts';

const Optional = Type.Optional;

export const DeliveriesQuery = Type.Object({
  limit: Optional(Integer(1, 500, 'Most entries of a page; default: 50')),
  before: Optional(Text(1, 64, 'next of the previous page')),
  state: Optional(OneOf(['waiting', 'given_up'], 'Deliveries that succeeded are in the whole list')),
});

const delivery = {
  id: Type.String({ description: 'As in X-Webhook-Id' }),
  type: Type.String({ description: 'Type of the event' }),
  url: Type.String({ description: 'Where it goes' }),
  subject_id: Type.String({ description: 'What it is about, such as a call' }),
  state: OneOf(['waiting', 'delivered', 'given_up'], 'waiting: another attempt follows; given_up: none does'),
  created_at: Iso('When it was created'),
  attempts: Type.Integer({ description: 'Attempts so far' }),
  first_attempt_at: Nullable(Iso(), 'When it was tried first; null: it was not'),
  next_attempt_at: Nullable(Iso(), 'When it is tried next; null: never again'),
  delivered_at: Nullable(Iso(), 'When it was delivered; null: it was not'),
  last_status: Nullable(Type.Integer({ description: 'Of the last response; null: there was none' })),
  last_error: Nullable(Type.String({ description: 'Why there was none; null: there was one' })),
};

const DeliveryView = Type.Object(delivery);
export type DeliveryView = Static<typeof DeliveryView>;

export const DeliveryPath = PathId('id', 'Id of the delivery');
export const DeliveryList = Plain(
  Type.Object({ deliveries: Type.Array(DeliveryView, { description: 'Newest first' }), next: NextPage() }),
);
export const DeliveryOne = Plain(
  Type.Object({
    delivery: Type.Object(
      {
        ...delivery,
        body: Nullable(Type.String({ description: 'As it is sent; null before the first attempt' })),
      },
      { description: 'The delivery with its body' },
    ),
  }),
);
export const DeliveryAgain = Plain(Type.Object({ delivery: described(DeliveryView, 'The delivery') }));
