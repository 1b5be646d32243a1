/** What the form of a new matrix sends. Pure. */
import type { RequestParts } from '../../api/client.ts';
import { matrices } from '../../text/matrices.ts';

type MatrixBody = RequestParts<'POST /v1/agent-testing/matrices'>['body'];
type NamedWeather = NonNullable<MatrixBody['weathers']>[number];

interface GivenNoise {
  readonly id: string;
  readonly name: string;
}

export interface MatrixForm {
  readonly scenario: string;
  /** Numbers between commas or spaces; '': that in production. */
  readonly versions: string;
  readonly repeats: string;
  /** null: in text */
  readonly call: {
    /** '': the agent says itself what is called. */
    readonly number: string;
    /** One per line. */
    readonly voices: string;
    /** By their keys, in the order of the form. */
    readonly weathers: readonly string[];
  } | null;
}

/** How far given and made noises are below the caller's speech. */
const snr_db = 10;

const presets: Readonly<Record<keyof typeof matrices.weathers, NamedWeather['weather']>> = {
  calm: {},
  street: { noise: { kind: 'street', snr_db } },
  babble: { noise: { kind: 'babble', snr_db } },
  loss: { loss_percent: 5, loss_burst: 3 },
  jitter: { jitter_ms: 60 },
  echo: { echo: { delay_ms: 120, level_db: -25 } },
  band: { telephone_band: true },
};

export interface OfferedWeather extends NamedWeather {
  readonly key: string;
}

/** The weathers that the form offers: made ones, and one with each noise of the organization. */
export function offeredWeathers(noises: readonly GivenNoise[]): OfferedWeather[] {
  const made = Object.entries(presets).map(([key, weather]) => ({
    key,
    name: matrices.weathers[key as keyof typeof presets],
    weather,
  }));
  const given = noises.map(({ id, name }) => ({
    key: id,
    name: matrices.noise(name).slice(0, 100),
    weather: { noise: { kind: 'given' as const, noise_id: id, snr_db } },
  }));
  return [...made, ...given];
}

const partsOf = (text: string, between: RegExp) =>
  text
    .split(between)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** @param offered as {@link offeredWeathers} returns them */
export function matrixBody(form: MatrixForm, offered: readonly OfferedWeather[]): MatrixBody {
  const versions = partsOf(form.versions, /[\s,]+/).map(Number);
  const body = {
    scenario_id: form.scenario,
    repeats: Number(form.repeats),
    ...(versions.length > 0 && { versions }),
  };
  if (form.call === null) return body;
  const { number, weathers: chosen } = form.call;
  const voices = partsOf(form.call.voices, /\n/);
  const weathers = offered
    .filter(({ key }) => chosen.includes(key))
    .map(({ name, weather }) => ({ name, weather }));
  return {
    ...body,
    transport: 'sip',
    ...(number !== '' && { phone_number: number }),
    ...(voices.length > 0 && { voices }),
    ...(weathers.length > 0 && { weathers }),
  };
}
