/** The calls of this edge, with their limits and counters. */
import { newTimedId } from '#shared/ids.ts';
import { Calls } from '../call/calls.ts';
import { type CountsOfFleet, OutboundLimits } from '../call/limits.ts';
import type { Agents } from '../call/ports/agents.ts';
import type { Dialer } from '../call/ports/dialing.ts';
import type { Media } from '../call/ports/media.ts';
import type { Recordings } from '../call/ports/recordings.ts';
import type { Reporter } from '../call/ports/reporting.ts';
import type { Routes } from '../call/ports/routes.ts';
import type { Speak } from '../call/supervision/supervisions.ts';
import { outboundHeaders } from '../signaling/invite/header-mapping.ts';
import { clock, type EdgeContext } from './context.ts';
import { tracedTransfer } from './tracing.ts';

interface CallsParts {
  readonly media: Media;
  readonly agents: Agents;
  readonly reporter: Reporter;
  /** Both are functions because these parts are created after the calls. */
  readonly routes: () => Routes;
  readonly dialer: () => Dialer;
  /** Called when the last call of a draining edge is over. */
  readonly drained: () => void;
  readonly limits: OutboundLimits;
  readonly recordings: Recordings;
  readonly speak: Speak;
  readonly voiceLoaded: () => Promise<void>;
}

export function outboundLimitsOf(
  { log, metrics, current }: EdgeContext,
  fleet: CountsOfFleet,
): OutboundLimits {
  return new OutboundLimits({
    clock,
    log,
    organization: (orgId) => current.organization(orgId)?.call_limits,
    number: (number) => current.number(number)?.call_limits,
    refused: (reason) => metrics.count('trunkline_edge_outbound_refused_total', { reason }),
    fleet,
  });
}

export function callsOf(context: EdgeContext, parts: CallsParts): Calls {
  const { media, agents, reporter, routes, dialer, drained, recordings, speak, voiceLoaded } = parts;
  const { settings, limits, log, metrics, current, tracing } = context;
  return new Calls({
    clock,
    media,
    agents,
    reporter,
    log,
    recordings,
    speak,
    newId: () => newTimedId(clock.now()),
    drained,
    maxCalls: settings.maxCalls,
    organizations: current.organizationsWithNumbers,
    shareRefused: () => metrics.count('trunkline_edge_refused_total', { reason: 'organization_share' }),
    linesLeftOut: (count) => metrics.add('trunkline_edge_transcript_lines_left_out_total', count),
    conferenceLimits: limits.conferences,
    conferenceRefused: (limit) => metrics.count('trunkline_edge_conferences_refused_total', { limit }),
    supervisionLimits: limits.supervision,
    supervisionRefused: () => metrics.count('trunkline_edge_supervisors_refused_total'),
    settings: { ...limits.calls, mediaTimeoutMs: settings.mediaTimeoutMs },
    outbound: {
      routes: {
        hunt: (...call) => routes().hunt(...call),
        referTarget: (...target) => routes().referTarget(...target),
        followable: (...refer) => routes().followable(...refer),
      },
      dialer: { dial: (...attempt) => dialer().dial(...attempt) },
      voiceLoaded,
      headersOf: (mappings, variables) => outboundHeaders(mappings, variables).headers,
      followRefer: settings.followRefer,
      ringTimeoutMs: limits.calls.ringTimeoutMs,
    },
    limits: parts.limits,
    onEnded: (termination, answered) =>
      metrics.count('trunkline_edge_calls_total', { termination, answered: String(answered) }),
    ...(tracing && { traced: (call) => tracing.call(call) }),
    onTransfer: (kind, call) => {
      const traced = tracing && tracedTransfer(tracing, kind, call);
      return (outcome, legId) => {
        metrics.count('trunkline_edge_transfers_total', { kind, outcome: outcome.ok ? 'ok' : outcome.code });
        traced?.(outcome, legId);
      };
    },
  });
}
