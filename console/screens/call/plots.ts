/** The series of a call's quality as columns of numbers: what the plots draw. */
import type { Answer } from '../../api/client.ts';
import { texts } from '../../text/texts.ts';

export type Quality = Answer<'GET /v1/sip/calls/{call_id}/quality'>['data'];
export type Sample = Quality['samples'][number];

export interface Series {
  readonly label: string;
  /** Variable of the stylesheet. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

export interface Plot {
  readonly key: string;
  readonly title: string;
  /** What is always shown, also while all is well. */
  readonly least: number;
  readonly most: number;
  readonly digits: number;
  readonly series: readonly Series[];
}

/** The middle of each sample. */
export function timesOf(samples: readonly Sample[]): number[] {
  return samples.map(({ at_ms, duration_ms }) => at_ms - duration_ms / 2);
}

/** Share of the peer's packets that did not come or came too late, percent. */
function lossOf({ packets_lost, packets_late, packets_received }: Sample): number | null {
  const all = packets_lost + packets_received;
  return all === 0 ? null : (100 * (packets_lost + (packets_late ?? 0))) / all;
}

const { plots } = texts.call.quality;
/** What comes from the caller and what goes to them, coloured as in the lanes and in the waveform; else one after the other. */
const [callers, agents] = ['--warn', '--accent'];
const colors = [agents, callers, '--good'];
const colorOfSide: Readonly<Record<string, string>> = {
  mos_received: callers,
  mos_sent: agents,
  received: callers,
  peer_loss_percent: agents,
  level_received_dbov: callers,
  level_sent_dbov: agents,
};

function plot<Name extends string>(
  key: string,
  { title, lines }: { readonly title: string; readonly lines: Readonly<Record<Name, string>> },
  [least, most, digits]: readonly [number, number, number],
  columns: Readonly<Record<Name, readonly (number | null)[]>>,
): Plot {
  const names = Object.entries<string>(lines);
  const values = new Map(Object.entries<readonly (number | null)[]>(columns));
  const series = names.map(([name, label], index) => ({
    label,
    color: colorOfSide[name] ?? colors[index] ?? '--text',
    values: values.get(name) ?? [],
  }));
  return { key, title, least, most, digits, series };
}

export function plotsOf(samples: readonly Sample[]): Plot[] {
  return [
    plot('mos', plots.mos, [1, 4.5, 2], {
      mos_received: samples.map((one) => one.mos_received),
      mos_sent: samples.map((one) => one.mos_sent),
    }),
    plot('loss', plots.loss, [0, 2, 1], {
      received: samples.map(lossOf),
      peer_loss_percent: samples.map((one) => one.peer_loss_percent),
    }),
    plot('delay', plots.delay, [0, 50, 0], {
      jitter_ms: samples.map((one) => one.jitter_ms),
      jitter_buffer_ms: samples.map((one) => one.jitter_buffer_ms),
      round_trip_ms: samples.map((one) => one.round_trip_ms),
    }),
    plot('level', plots.level, [-60, 0, 0], {
      level_received_dbov: samples.map((one) => one.level_received_dbov),
      level_sent_dbov: samples.map((one) => one.level_sent_dbov),
    }),
  ];
}
