/** What must be true of edge and engine once the faults have ended, and when the edge has stopped. */
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { EdgeMachine } from './edge-machine.ts';
import type { SeenCall } from './peers.ts';

/** A violated invariant of the world. */
export class Violation extends Error {}

/** What the far ends and the reports say about calls, for messages. */
export interface Witnesses {
  /** Every report that was on disk, in order. */
  readonly written: readonly ReportBody[];
  readonly seen: readonly SeenCall[];
}

/** Engine and edge have the same dialogs; each belongs to a call. @throws Violation */
export function sameDialogs(edge: EdgeMachine, witnesses: Witnesses): void {
  const { dialogs = 0 } = edge.engine.metrics();
  const known = edge.signaling.dialogs;
  const without = () => `calls without end: ${endless(witnesses).join(' ')}`;
  if (dialogs < known) {
    throw new Violation(
      `the edge holds ${known} dialogs, the engine ${dialogs}: an end was not reported; ${without()}`,
    );
  }
  if (dialogs > known) {
    const up = witnesses.seen.filter(({ over }) => !over).map(({ callId }) => callId);
    throw new Violation(
      `the engine holds ${dialogs} dialogs, the edge ${known}: one was forgotten; ${without()}; up at the far end: ${up.join(' ')}`,
    );
  }
  if (edge.calls.size > 0 && known === 0) {
    throw new Violation(`${edge.calls.size} calls without a dialog`);
  }
}

/** Call-IDs of the calls whose end was not reported. */
function endless({ written }: Witnesses): string[] {
  const live = new Map<string, CallRecord>();
  for (const body of written) if (body.type === 'call') live.set(body.call.id, body.call);
  return [...live.values()]
    .filter((call) => !call.ended_at)
    .map((call) => `${call.sip_call_id} (${call.status})`);
}

/**
 * No call, dialog, transaction, media leg or agent is left.
 * @param targets of trunks: a probe to each may be pending at any time
 * @throws Violation
 */
export function atRest(edge: EdgeMachine, targets: number, witnesses: Witnesses): void {
  const metrics = edge.engine.metrics();
  const left = {
    calls: edge.calls.size,
    'dialogs of the edge': edge.signaling.dialogs,
    'dialogs of the engine': metrics.dialogs ?? 0,
    'client transactions': metrics.client_transactions ?? 0,
    'server transactions': metrics.server_transactions ?? 0,
    'media legs': edge.media.open.size,
    agents: edge.agents.open.size,
  };
  const held = Object.entries(left).filter(([, count]) => count > 0);
  const real = held.filter(([what, count]) => what !== 'client transactions' || count > targets);
  if (real.length > 0) {
    const what = real.map(([name, count]) => `${count} ${name}`).join(', ');
    throw new Violation(`left at rest: ${what}; without end: ${endless(witnesses).join(' ')}`);
  }
}

/** Problems of an edge that has stopped: timers that are left, and errors that it should not have logged. */
export function leftovers(edge: EdgeMachine): string[] {
  const timers = (of: string, count: number) =>
    count > 0 ? [`${count} timers of the ${of} are left after its end`] : [];
  const failures = [
    ...edge.engineLog
      .filter(({ level }) => level === 'error')
      .map(({ message, fields }) => `engine: ${message} ${JSON.stringify(fields)}`),
    ...edge.log.lines
      .filter(({ level }) => level === 'error')
      .map(({ message, fields }) => `edge: ${message} ${JSON.stringify(withStack(fields))}`),
  ].filter((line) => !expected.test(line));
  return [...timers('engine', edge.engineTimers), ...timers('edge', edge.clock.pending), ...failures];
}

/** Errors caused by the world's faults, which the edge should log. */
const expected =
  /media worker died|the agent broke|the voice broke|the edge (is dead|died)|model does not answer/;

function withStack(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? value.stack : value]),
  );
}
