/**
 * What lies between a simulated caller and the tested agent on a call: the caller's surroundings and its network. The
 * agent hears it; the caller hears the agent as it is. The same seed gives the same weather.
 */
import { type Static, Type } from 'typebox';
import { Closed, Integer, Nullable, OneOf, Uuid } from './api/common.ts';
import { codecNames } from './codecs.ts';

export const noiseKinds = ['white', 'pink', 'babble', 'street'] as const;
export type NoiseKind = (typeof noiseKinds)[number];

const Optional = Type.Optional;
const share = (maximum: number, description: string) =>
  Optional(Type.Number({ minimum: 0, maximum, description }));

const Noise = Closed({
  kind: OneOf([...noiseKinds, 'given'], 'given: the sound that noise_id names'),
  noise_id: Optional(Uuid('Of POST /v1/agent-testing/noises; with kind given alone')),
  snr_db: Integer(-10, 60, "How far the noise is below the caller's speech"),
});
const Echo = Closed({
  delay_ms: Integer(20, 500, 'Delay of the echo, ms'),
  level_db: Integer(-50, 0, "Level of the echo against the agent's sound, dB"),
});

export const Weather = Type.Object(
  {
    noise: Optional({ ...Noise, description: 'Sound behind the caller' }),
    level_db: Optional(Integer(-30, 12, "Changes the caller's level")),
    echo: Optional({
      ...Echo,
      description: "The agent's own sound, which comes back from the caller's telephone",
    }),
    telephone_band: Optional(
      Type.Boolean({ description: 'Only 300 to 3,400 Hz of the sound, as an old line carries it' }),
    ),
    loss_percent: share(50, "Share of the caller's packets that get lost"),
    loss_burst: Optional(Integer(1, 25, 'Packets that get lost together, on average; default: 1')),
    jitter_ms: Optional(Integer(0, 300, 'Packets are delayed by up to so much more')),
    reorder_percent: share(50, 'Share of packets that later ones overtake'),
    drift_ppm: Optional(Integer(-500, 500, "How much slower the caller's clock is, parts per million")),
    codec: Optional(OneOf(codecNames, 'The only codec that the caller offers')),
  },
  {
    additionalProperties: false,
    description: 'Noise, loss and more between the caller and the agent; only with transport sip',
  },
);
export type Weather = Static<typeof Weather>;

/** What its schema cannot say; null: it is right. */
export function noiseProblem({ noise }: Weather): string | null {
  if (!noise || (noise.kind === 'given') === (noise.noise_id !== undefined)) return null;
  return noise.kind === 'given' ? 'is required with kind given' : 'is used with kind given alone';
}

/** What the weather did to the caller's packets, and what of it was heard at the agent's end. */
export const WeatherReport = Type.Object({
  packets: Type.Integer({ description: 'Packets of the caller' }),
  dropped: Type.Integer({ description: 'Packets that were dropped' }),
  overtaken: Type.Integer({ description: 'Packets that later ones overtook' }),

  loud_dbov: Nullable(
    Type.Number(),
    'Mean level of the loudest tenth of what the agent heard, dBov; null: it heard nothing',
  ),
  quiet_dbov: Nullable(
    Type.Number(),
    'Mean level of the quietest tenth of what the agent heard, dBov; null: it heard nothing',
  ),
});
export type WeatherReport = Static<typeof WeatherReport>;
