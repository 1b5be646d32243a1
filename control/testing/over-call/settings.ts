/**
 * A scenario's call settings, in its `metadata`:
 *
 *     { "call": { "interrupt_turns": [2], "interrupt_after_ms": 800, "caller_number": "+14155550123",
 *                 "voice": "slt", "language": "en-US", "weather": { "loss_percent": 5 } } }
 *
 * In its moves number `interrupt_turns` (from 1) the caller interrupts the agent.
 */
import { Compile } from 'typebox/compile';
import { isObject } from '#shared/agent/graph-problem.ts';
import { noiseProblem, Weather } from '#shared/agent-test-weather.ts';
import { toE164 } from '#shared/e164.ts';
import { lazy } from '#shared/lazy.ts';

export interface CallSettings {
  readonly interruptTurns: ReadonlySet<number>;
  /** ms of the agent's speech before it is interrupted */
  readonly interruptAfterMs: number;
  /** E.164 with plus; null: the tested number itself */
  readonly callerNumber: string | null;
  readonly voice: string | null;
  readonly language: string;
  /** null: calm */
  readonly weather: Weather | null;
}

const defaultInterruptAfterMs = 800;

/** Metadata is free-form, so invalid values count as absent; of weather, the start of a run says so before. */
export function callSettings(metadata: Readonly<Record<string, unknown>> | null): CallSettings {
  const given = isObject(metadata?.call) ? metadata.call : {};
  const {
    interrupt_turns: turns,
    interrupt_after_ms: after,
    caller_number,
    voice,
    language,
    weather,
  } = given;
  const text = (value: unknown) =>
    typeof value === 'string' && value !== '' && value.length <= 100 ? value : null;
  return {
    interruptTurns: new Set(Array.isArray(turns) ? turns.filter((turn) => Number.isInteger(turn)) : []),
    interruptAfterMs:
      typeof after === 'number' && after >= 100 && after <= 60_000
        ? Math.round(after)
        : defaultInterruptAfterMs,
    callerNumber: typeof caller_number === 'string' ? toE164(caller_number) : null,
    voice: text(voice),
    language: text(language) ?? 'en-US',
    weather: weatherOf(weather),
  };
}

const weatherCheck = lazy(() => Compile(Weather));

/** @returns null for none, and for one that is invalid */
function weatherOf(weather: unknown): Weather | null {
  return weatherCheck().Check(weather) && noiseProblem(weather) === null ? weather : null;
}

/** What is wrong with the weather of a scenario; null: nothing, or it has none. */
export function weatherProblem(metadata: Readonly<Record<string, unknown>> | null): string | null {
  const weather = isObject(metadata?.call) ? metadata.call.weather : undefined;
  if (weather === undefined) return null;
  if (weatherCheck().Check(weather)) {
    const problem = noiseProblem(weather);
    return problem && `/noise/noise_id ${problem}`;
  }
  const [first] = weatherCheck().Errors(weather);
  return `${first?.instancePath ?? ''} ${first?.message ?? 'is invalid'}`.trim();
}

/** The metadata with another weather or voice for its call. */
export function withCall(
  metadata: Readonly<Record<string, unknown>> | null,
  changes: { readonly weather?: Weather; readonly voice?: string },
): Record<string, unknown> {
  const call = isObject(metadata?.call) ? metadata.call : {};
  return { ...metadata, call: { ...call, ...changes } };
}
