/** Scenarios as calls at once: `--concurrency` and `--ramp`. */
import { setTimeout as pause } from 'node:timers/promises';
import { counted } from '#shared/counted.ts';
import type { Answer, Trunkline } from '../../clients/typescript/src/index.ts';
import { asked, Unavailable } from '../connection.ts';
import { Trouble } from '../setup/trouble.mjs';
import { escaped } from './junit.ts';
import type { Options } from './options.ts';
import { oneLine } from './table.ts';

export type Load = Pick<
  Answer<'GET /v1/agent-testing/loads/{id}'>,
  'id' | 'status' | 'reason' | 'levels' | 'knee' | 'created_at' | 'completed_at'
>;

const askAgainMs = 1000;

export async function startLoad(
  client: Trunkline,
  { load, seed, version }: Options,
  scenario_ids: readonly string[],
): Promise<string> {
  const body = {
    scenario_ids,
    ...load,
    ...(version !== null && { version_number: version }),
    ...(seed !== null && { seed }),
  };
  const { load_id } = await asked(client.request('POST /v1/agent-testing/loads', { body }));
  return load_id;
}

/** The load once it has ended. @throws Trouble when that takes longer than `timeoutMs` */
export async function followedLoad(client: Trunkline, id: string, timeoutMs: number): Promise<Load> {
  const signal = AbortSignal.timeout(timeoutMs);
  while (!signal.aborted) {
    try {
      const load = await asked(client.request('GET /v1/agent-testing/loads/{id}', { path: { id } }));
      if (load.completed_at !== null && load.levels.every(isOver)) return load;
    } catch (error) {
      if (error instanceof Trouble && !(error instanceof Unavailable)) throw error;
    }
    await pause(askAgainMs, undefined, { signal }).catch(() => undefined);
  }
  const why = `it was still running after ${timeoutMs / 1000} s`;
  throw new Trouble(`load ${id} takes too long`, why, 'wait longer with --timeout, or cancel it');
}

/** The calls of a level that has begun end a moment after the load when that is cancelled. */
function isOver({ began_at, ended_at }: Load['levels'][number]): boolean {
  return began_at === null || ended_at !== null;
}

export function loadLines({ knee, levels, reason, status }: Load): string[] {
  const row = (cells: readonly (string | number | null | undefined)[]) =>
    cells
      .map((cell, place) => String(cell ?? '-').padEnd(place === 0 ? 9 : 11))
      .join(' ')
      .trimEnd();
  return [
    row(['calls', 'ended', 'answered', 'set-up p95', 'answer p50', 'answer p95', 'MOS', 'passed']),
    ...levels.flatMap(({ concurrency, figures: own }) => [
      row([
        concurrency,
        own?.calls,
        own?.answered,
        own?.set_up_ms.p95,
        own?.latency_ms.p50,
        own?.latency_ms.p95,
        own?.mos.p50,
        own?.passed,
      ]),
      ...(own?.failures ?? []).map(
        ({ calls, reason: why }) => `    ${counted(calls, 'call')}: ${oneLine(why)}`,
      ),
    ]),
    ...(reason === null ? [] : [reason]),
    `${status}: ${knee?.sentence ?? 'no level has ended.'}`,
  ];
}

/** @param failUnder percent of the calls of each level that must pass */
export function isLoadEnough({ knee, levels, status }: Load, failUnder: number): boolean {
  if (status !== 'COMPLETED' || knee === null || knee.because !== null) return false;
  return levels.every((level) => isLevelEnough(level, failUnder));
}

function isLevelEnough({ figures }: Load['levels'][number], failUnder: number): boolean {
  return figures !== null && figures.calls > 0 && 100 * figures.passed >= failUnder * figures.calls;
}

/** One case for each level. */
export function loadJunit(load: Load, subject: string, failUnder: number): string {
  const cases = load.levels.map((level) => {
    const { began_at, concurrency, ended_at, figures } = level;
    const seconds = began_at && ended_at ? (Date.parse(ended_at) - Date.parse(began_at)) / 1000 : 0;
    const breaks = load.knee?.breaks_at === concurrency ? load.knee.sentence : null;
    const why = figures === null ? 'It was not reached.' : breaks;
    const few =
      why === null && !isLevelEnough(level, failUnder)
        ? `${figures?.passed} of ${counted(figures?.calls ?? 0, 'call')} passed.`
        : why;
    return { name: `${counted(concurrency, 'call')} at once`, seconds, few, figures };
  });
  const failures = cases.filter(({ few }) => few !== null).length;
  const total =
    load.completed_at === null ? 0 : (Date.parse(load.completed_at) - Date.parse(load.created_at)) / 1000;
  const counts = `tests="${cases.length}" failures="${failures}" errors="0" time="${total.toFixed(3)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="agent-test" ${counts}>`,
    `  <testsuite name="agent-test load" ${counts} skipped="0" timestamp="${escaped(load.created_at)}">`,
    `    <properties><property name="load_id" value="${escaped(load.id)}"/></properties>`,
    ...cases.flatMap(({ few, figures, name, seconds }) => {
      const open = `    <testcase name="${escaped(name)}" classname="${escaped(subject)}" time="${seconds.toFixed(3)}"`;
      if (few === null) return [`${open}/>`];
      const reasons = (figures?.failures ?? []).map(({ calls, reason }) => `${calls}: ${reason}`).join('\n');
      return [
        `${open}>`,
        `      <failure type="LOAD" message="${escaped(few)}">${escaped(reasons)}</failure>`,
        '    </testcase>',
      ];
    }),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}
