/** Health of a deployment (contract 14.2). */
import { type Static, Type } from 'typebox';
import { Nullable, OneOf } from '#shared/api/common.ts';

const EdgeParts = Type.Object(
  {
    id: Type.String({ description: 'Id of the edge' }),
    engine: OneOf(['ok', 'down'], 'down: the SIP engine is gone or hangs'),
    media: Nullable(OneOf(['ok', 'down'], 'down: no media shard runs; null: not told')),
    disk: OneOf(
      ['ok', 'failing', 'refusing_calls'],
      'failing: reports wait in memory; refusing_calls: that memory is nearly full',
    ),
    queue: Nullable(OneOf(['ok', 'waiting'], 'waiting: many reports wait for control; null: not told')),
    certificate: Nullable(
      OneOf(
        ['ok', 'expires_soon', 'expired', 'other_host'],
        'The one that peers get; expires_soon: within 14 days; other_host: not for SIP_PUBLIC_HOST; null: not told',
      ),
    ),
  },
  {
    description:
      'As last reported; null: not reported, or only to the control plane that the edge is linked to',
  },
);
export type EdgeParts = Static<typeof EdgeParts>;

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
      parts: Type.Array(EdgeParts, { description: 'The parts of each connected edge' }),
    },
    { description: 'The edges' },
  ),
  control: Type.Object(
    {
      disk: OneOf(['ok', 'failing'], 'failing: nothing can be stored'),
      queue: OneOf(['ok', 'waiting'], 'waiting: statements wait for a connection to PostgreSQL'),
    },
    { description: 'Parts of this control plane besides its database' },
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
