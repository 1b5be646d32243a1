/** Health of a deployment (contract 14.2). */
import { type Static, Type } from 'typebox';
import { Nullable, OneOf } from '#shared/api/common.ts';

export const Health = Type.Object({
  status: OneOf(
    ['ok', 'unavailable'],
    'Whether the database answers and, where one is expected, an edge takes calls',
  ),
  checks: Type.Object(
    {
      database: OneOf(['ok', 'down'], 'Whether the database answers'),
      edges: Type.Integer({ description: 'Number of connected edges' }),
    },
    { description: 'The parts in short' },
  ),
  edge: Type.Object(
    {
      connected: Type.Integer({ description: 'Number of connected edges' }),
      ids: Type.Array(Type.String(), { description: 'Ids of the connected edges' }),
      draining: Type.Array(Type.String(), {
        description:
          'Ids of edges that shut down or were taken out of service: they finish their calls and accept no more',
      }),
      fleet: Type.Object(
        {
          epoch: Type.Integer({
            description: 'Number of the division of work, which grows with each change',
          }),
          members: Type.Array(Type.String(), { description: 'Ids of the edges that share it' }),
        },
        { description: 'Ids of the edges that share probes, registrations and call limits' },
      ),
      config_version: Type.Integer({ description: 'Current configuration version' }),
      applied_version: Nullable(
        Type.Integer({ description: 'Version confirmed by every connected edge; null: there is none' }),
      ),
      storage: Type.Object(
        {
          failing: Type.Array(Type.String(), {
            description: 'Ids of edges that cannot write to their disk: their reports wait in memory',
          }),
          refusing: Type.Array(Type.String(), {
            description: 'Ids of those that reject new calls, because that memory is running out',
          }),
          lost: Type.Array(Type.String(), {
            description: 'Ids of edges that have lost files with reports, deleted or cut, since their start',
          }),
        },
        { description: 'Edges whose disk has trouble' },
      ),
    },
    { description: 'The edges' },
  ),
  database: Type.Object(
    { status: OneOf(['ok', 'down'], 'Whether it answers') },
    { description: 'The database' },
  ),
});
export type Health = Static<typeof Health>;

export const Live = Type.Object({ status: OneOf(['ok'], 'Always ok: the process answers') });

export const Ready = Type.Object({
  status: OneOf(['ok', 'unavailable'], 'ok: this process should get requests'),
  checks: Type.Object(
    { database: OneOf(['ok', 'down'], 'Whether the database answers') },
    { description: 'What it needs' },
  ),
  leaving: Type.Boolean({ description: 'Whether it shuts down, and others serve' }),
});
