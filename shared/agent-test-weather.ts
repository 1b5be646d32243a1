/**
 * What lies between a simulated caller and the tested agent on a call: the caller's surroundings and its network. The
 * agent hears it; the caller hears the agent as it is. The same seed gives the same weather.
 */
import { type Static, Type } from 'typebox';
import { codecNames } from './codecs.ts';

export const noiseKinds = ['white', 'pink', 'babble', 'street'] as const;
export type NoiseKind = (typeof noiseKinds)[number];

const within = <T extends object>(properties: T, description: string) => ({ ...properties, description });
const words = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Optional(Type.Unsafe<T[number]>({ type: 'string', enum: [...values], description }));
const whole = (minimum: number, maximum: number, description: string) =>
  Type.Optional(Type.Integer(within({ minimum, maximum }, description)));
const share = (maximum: number, description: string) =>
  Type.Optional(Type.Number(within({ minimum: 0, maximum }, description)));
const closed = { additionalProperties: false } as const;

export const Weather = Type.Object(
  {
    noise: Type.Optional(
      Type.Object(
        {
          kind: Type.Unsafe<NoiseKind>({ type: 'string', enum: [...noiseKinds] }),
          snr_db: Type.Integer({
            minimum: -10,
            maximum: 60,
            description: "How far the noise is below the caller's speech",
          }),
        },
        { ...closed, description: 'Sound behind the caller' },
      ),
    ),
    level_db: whole(-30, 12, "Changes the caller's level"),
    echo: Type.Optional(
      Type.Object(
        {
          delay_ms: Type.Integer({ minimum: 20, maximum: 500 }),
          level_db: Type.Integer({ minimum: -50, maximum: 0 }),
        },
        { ...closed, description: "The agent's own sound, which comes back from the caller's telephone" },
      ),
    ),
    telephone_band: Type.Optional(
      Type.Boolean({ description: 'Only 300 to 3,400 Hz of the sound, as an old line carries it' }),
    ),
    loss_percent: share(50, "Share of the caller's packets that get lost"),
    loss_burst: whole(1, 25, 'Packets that get lost together, on average; default: 1'),
    jitter_ms: whole(0, 300, 'Packets are delayed by up to so much more'),
    reorder_percent: share(50, 'Share of packets that later ones overtake'),
    drift_ppm: whole(-500, 500, "How much slower the caller's clock is, parts per million"),
    codec: words(codecNames, 'The only codec that the caller offers'),
  },
  closed,
);
export type Weather = Static<typeof Weather>;

/** What the weather did to the caller's packets, and what of it was heard at the agent's end. */
export const WeatherReport = Type.Object({
  /** Packets of the caller, those dropped, and those that were overtaken. */
  packets: Type.Integer(),
  dropped: Type.Integer(),
  overtaken: Type.Integer(),
  /** Mean level of the loudest and of the quietest tenth of what the agent heard, dBov; null: it heard nothing. */
  loud_dbov: Type.Union([Type.Number(), Type.Null()]),
  quiet_dbov: Type.Union([Type.Number(), Type.Null()]),
});
export type WeatherReport = Static<typeof WeatherReport>;
