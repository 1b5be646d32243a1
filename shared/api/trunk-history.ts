/** The probes of a number's trunk by hour (contract 3.3). */
import { Type } from 'typebox';
import { Nullable, Plain } from '#shared/api/common.ts';

export const TrunkHour = Type.Object({
  hour: Type.String({ description: 'Its start', examples: ['2030-01-01T05:00:00.000Z'] }),
  probes: Type.Integer({ description: 'Of the primary endpoint' }),
  healthy_probes: Type.Integer({ description: 'Those at which a usable endpoint was healthy' }),
  uptime_percentage: Nullable(
    Type.Number(),
    'Share of the probes at which the trunk was healthy, percent; null: no probes',
  ),
  average_response_time_ms: Nullable(Type.Integer(), 'Mean of the successful probes, ms; null: none'),
});

/** 30 days, and the hour that is not over. */
export const TrunkHistory = Plain(
  Type.Object({
    hours: Type.Array(TrunkHour, {
      maxItems: 721,
      description: 'Oldest first; hours without probes are missing',
    }),
  }),
);
