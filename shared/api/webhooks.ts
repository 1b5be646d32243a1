/** Webhook deliveries of an organization (contract 13.1). */
import { type Static, Type } from 'typebox';
import { Integer, Iso, Nullable, OneOf, PathId, Plain, Text } from '#shared/api/common.ts';

const Optional = Type.Optional;
const text = Type.String();

export const DeliveriesQuery = Type.Object({
  limit: Optional(Integer(1, 500)),
  before: Optional(Text(1, 64, 'id of the last delivery of the previous page')),
  state: Optional(OneOf(['waiting', 'given_up'], 'Deliveries that succeeded are in the whole list')),
});

const delivery = {
  id: Type.String({ description: 'As in X-Webhook-Id' }),
  type: text,
  url: text,
  subject_id: Type.String({ description: 'What it is about, such as a call' }),
  state: OneOf(['waiting', 'delivered', 'given_up']),
  created_at: Iso(),
  attempts: Type.Integer(),
  first_attempt_at: Nullable(Iso()),
  next_attempt_at: Nullable(Iso()),
  delivered_at: Nullable(Iso()),
  last_status: Nullable(Type.Integer({ description: 'Of the last response; null: there was none' })),
  last_error: Nullable(Type.String({ description: 'Why there was none' })),
};

const DeliveryView = Type.Object(delivery);
export type DeliveryView = Static<typeof DeliveryView>;

export const DeliveryPath = PathId('id', 'Id of the delivery');
export const DeliveryList = Plain(Type.Object({ deliveries: Type.Array(DeliveryView) }));
export const DeliveryOne = Plain(
  Type.Object({
    delivery: Type.Object({
      ...delivery,
      body: Nullable(Type.String({ description: 'As it is sent; null before the first attempt' })),
    }),
  }),
);
export const DeliveryAgain = Plain(Type.Object({ delivery: DeliveryView }));
