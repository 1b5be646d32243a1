/** A leg to the target of a transfer: what distinguishes it from other calls of ours. */
import { type CodecName, defaultCodecs } from '#shared/codecs.ts';
import { CallRefused } from '../call-refused.ts';
import type { Termination } from '../ending.ts';
import type { AgentHost, AgentLeg, CallFacts } from '../ports/agents.ts';
import type { MediaLeg } from '../ports/media.ts';
import type { OutboundRoute } from '../ports/routes.ts';
import type { DialogLeg } from '../ports/signaling.ts';
import type { TargetEvents } from './target-events.ts';
import type { TransferredCall } from './transferred-call.ts';

export interface TargetPlan {
  /** The call that is being transferred. */
  readonly parentId: string;
  /** Configuration that it is to go over, where the number has it as an outbound one. */
  readonly trunkId: string | null;
  /** Media that it will be joined with. */
  readonly beside: MediaLeg | null;
  readonly replaces: string | null;
  readonly referredBy: string | null;
  /** When a call that goes on over this leg must end, ms since the epoch; null: with its parent. */
  readonly deadline: number | null;
  /** What is offered over a route. @throws CallRefused 488 when nothing fits */
  codecs(route: OutboundRoute): readonly CodecName[];
  /** Makes who speaks to the target. */
  speaker(call: CallFacts, host: AgentHost): AgentLeg;
  readonly events: TargetEvents;
}

/** The leg, as its transfer sees it. */
export interface TargetLeg {
  readonly body: TransferredCall;
  readonly leg: DialogLeg | null;
  /** The route of the last attempt. */
  readonly route: OutboundRoute | null;
  end(termination: Termination): void;
}

/**
 * What is offered to a target that will be joined with media in `codec`: that one alone unless the route lets the
 * legs differ.
 * @throws CallRefused 488 when the route does not have it and may not transcode
 */
export function codecsFor(codec: CodecName | null, route: OutboundRoute): readonly CodecName[] {
  const own = route.codecs.length > 0 ? route.codecs : defaultCodecs;
  if (codec === null) return own;
  const others = own.filter((other) => other !== codec);
  // A foreign host has no list of its own that could forbid the codec.
  const allowed = others.length < own.length || route.codecs.length === 0;
  if (route.transcode) return allowed ? [codec, ...others] : own;
  if (allowed) return [codec];
  throw new CallRefused(
    488,
    `The call uses ${codec}, which the configuration of the target does not list; it may not transcode.`,
  );
}
