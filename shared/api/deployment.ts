/** Health of a deployment (contract 14.2). */
import { type Static, Type } from 'typebox';
import { Nullable, OneOf } from '#shared/api/common.ts';

export const Health = Type.Object({
  status: OneOf(['ok', 'unavailable']),
  checks: Type.Object({ database: OneOf(['ok', 'down']), edges: Type.Integer() }),
  edge: Type.Object({
    connected: Type.Integer(),
    ids: Type.Array(Type.String()),
    draining: Type.Array(Type.String(), {
      description:
        'Ids of edges that shut down or were taken out of service: they finish their calls and accept no more',
    }),
    fleet: Type.Object(
      { epoch: Type.Integer(), members: Type.Array(Type.String()) },
      { description: 'Ids of the edges that share probes, registrations and call limits' },
    ),
    config_version: Type.Integer({ description: 'Current configuration version' }),
    applied_version: Nullable(Type.Integer({ description: 'Version confirmed by every connected edge' })),
    storage: Type.Object({
      failing: Type.Array(Type.String(), {
        description: 'Ids of edges that cannot write to their disk: their reports wait in memory',
      }),
      refusing: Type.Array(Type.String(), {
        description: 'Ids of those that reject new calls, because that memory is running out',
      }),
      lost: Type.Array(Type.String(), {
        description: 'Ids of edges that have lost files with reports, deleted or cut, since their start',
      }),
    }),
  }),
  database: Type.Object({ status: OneOf(['ok', 'down']) }),
});
export type Health = Static<typeof Health>;

export const Live = Type.Object({ status: OneOf(['ok']) });

export const Ready = Type.Object({
  status: OneOf(['ok', 'unavailable']),
  checks: Type.Object({ database: OneOf(['ok', 'down']) }),
  leaving: Type.Boolean(),
});
