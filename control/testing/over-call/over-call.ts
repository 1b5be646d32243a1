/** A run over a real call: has an edge place it, and holds the conversation over it (contract 6.4). */

import type { ModelRequest } from '#shared/agent-test-protocol.ts';
import type { Voice } from '#shared/api/agent-testing/runs.ts';
import type { Clock } from '#shared/clock.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { ApiError } from '#shared/errors.ts';
import type { ConnectedEdges, RegionWish } from '../../edge-link/index.ts';
import type { ConversationRecord } from '../judging/ports.ts';
import { type RunTime, untilRoom } from './room.ts';
import type { AgentTestSockets, ExpectedLine } from './sockets.ts';
import { CallFailure, CallTalk, type CallTalkParts, interruptAfter, NoRoom } from './talk.ts';
import { voiceOf } from './voice.ts';

/** Whom the simulated caller calls. */
export interface CallTarget {
  /** Whose agent is tested, E.164 with plus; with `to` the number that calls. */
  readonly number: string;
  /** A bot of others that answers in place of a number's agent; absent: the number's. */
  readonly agent?: AgentSettings;
  /** An agent of others with a telephone, called over the trunks of `number`; absent: the edge calls itself. */
  readonly to?: string;
  /** Of an INVITE to `to`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OverCallParts extends Omit<CallTalkParts, 'target'> {
  readonly orgId: string;
  readonly target: CallTarget;
  /** Whether the agent's words are known from its sound alone. */
  readonly needsWords?: boolean;
  /** Where the edge should be; absent: anywhere. */
  readonly wish?: RegionWish | null;
  readonly startNodeId: string | null;
  readonly variables: Record<string, unknown>;
  readonly maxMinutes: number;
  /** Whether the call is recorded. */
  readonly record?: boolean;
  /** Of the weather. */
  readonly seed: number;
  /** The sound of a given noise: mu-law at 8 kHz, base64. */
  readonly noise?: string | null;
  /** Stands still while the run waits for room. */
  readonly time?: RunTime | undefined;
}

export interface TalkedOverCall {
  readonly record: ConversationRecord;
  readonly currentNodeId: string | null;
  readonly turnCount: number;
  readonly voice: Voice;
  /** Of the agent to language models; null: the edge did not count them. */
  readonly requests: readonly ModelRequest[] | null;
}

const lookEveryMs = 250;

/** What a run timed out waiting for: an edge that could place its call, room on one, or the socket of that edge. */
export type Missed = 'edge' | 'room' | 'socket';

export interface OverCallServices {
  readonly edges: ConnectedEdges;
  /** Accepts the edges' connections for test runs over a call. */
  readonly agentTestSockets: AgentTestSockets;
  readonly clock: Clock;
  /** Timeouts: for an edge that can place the call, for room on it, and for the socket of the run. */
  readonly limits: { readonly testing: Readonly<Record<'edgeMs' | 'roomMs' | 'socketMs', number>> };
  readonly missed: (what: Missed) => void;
}

/** Rejects with CallFailure when there is no call to judge; with the reason of the signal when that is aborted. */
export function converseOverCall(services: OverCallServices, parts: OverCallParts): Promise<TalkedOverCall> {
  const { clock, limits, missed } = services;
  const { signal, time } = parts;
  const waits = { clock, signal, time, roomMs: limits.testing.roomMs, missed: () => missed('room') };
  return untilRoom(waits, () => converseOnce(services, parts));
}

/** Rejects with NoRoom when no edge has room for the call. */
async function converseOnce(services: OverCallServices, parts: OverCallParts): Promise<TalkedOverCall> {
  const { limits, missed, agentTestSockets } = services;
  const { noise, runId, signal } = parts;
  const edge = await edgeFor(services, parts);
  const expected = agentTestSockets.expect(runId, limits.testing.socketMs);
  try {
    // The edge waits for it before it places the call.
    if (noise)
      void expected.arrived.then(
        (line) => line.send({ type: 'noise', audio: noise }),
        () => undefined,
      );
    await edge.command(orderOf(parts, expected));
    const line = await lineOf(expected, missed);
    const hangUp = () => line.close();
    signal.addEventListener('abort', hangUp);
    try {
      const { turns, ended, ...talked } = await new CallTalk(line, parts).hold();
      const voice = voiceOf(turns, ended, parts.settings.weather);
      return { ...talked, voice, requests: ended.requests ?? null };
    } finally {
      signal.removeEventListener('abort', hangUp);
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const why = `The call could not be placed: ${error.message}`;
    throw error.code === 'RATE_LIMITED' ? new NoRoom(why) : new CallFailure(why);
  } finally {
    expected.cancel();
    // Also when the edge's answer to the command is lost: nobody would speak in its call.
    void expected.arrived.then(
      (line) => line.close(),
      () => undefined,
    );
  }
}

function orderOf(parts: OverCallParts, { key }: ExpectedLine) {
  const { needsWords, settings, target } = parts;
  const { number, agent, to, headers } = target;
  return {
    kind: 'agent_test.call' as const,
    run_id: parts.runId,
    org_id: parts.orgId,
    number,
    // A carrier accepts a caller that it knows.
    caller_number: to === undefined ? (settings.callerNumber ?? number) : number,
    key,
    start_node_id: parts.startNodeId,
    variables: parts.variables,
    voice: settings.voice,
    language: settings.language,
    max_minutes: parts.maxMinutes,
    interrupt_after_ms: interruptAfter(settings, 1),
    ...(parts.record && { record: true }),
    ...(settings.weather && { weather: settings.weather, seed: parts.seed }),
    ...(agent && { agent }),
    ...(needsWords && { needs_words: true }),
    ...(to !== undefined && { to, headers: { ...headers } }),
  };
}

/** The edge opens the socket before it answers the command, so a missing one means that it failed. */
async function lineOf({ arrived }: ExpectedLine, missed: OverCallServices['missed']) {
  try {
    return await arrived;
  } catch (error) {
    missed('socket');
    throw new CallFailure(error instanceof Error ? error.message : String(error));
  }
}

/** The least loaded edge, as soon as there is one: a restarted one reconnects. */
async function edgeFor(
  { clock, limits, edges, missed }: OverCallServices,
  { noise, signal, target, wish = null }: OverCallParts,
) {
  const isOthers = target.agent !== undefined || target.to !== undefined;
  const usual = isOthers ? edgeProtocol.testsOthers : 0;
  const deadline = clock.now() + limits.testing.edgeMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      return edges.leastLoaded(wish, noise ? edgeProtocol.givenNoise : usual);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (clock.now() >= deadline) {
        missed('edge');
        throw new CallFailure('No edge is connected that could place the call.');
      }
    }
    await new Promise<void>((resolve) => clock.after(lookEveryMs, resolve));
  }
}
