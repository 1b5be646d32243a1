/** A leg to a transfer target: how it differs from other outbound calls. */
import { type CodecName, defaultCodecs } from '#shared/codecs.ts';
import type { Termination } from '../ending.ts';
import type { AgentHost, AgentLeg, CallFacts } from '../ports/agents.ts';
import type { MediaLeg } from '../ports/media.ts';
import type { OutboundRoute } from '../ports/routes.ts';
import { CallRefused } from '../refused.ts';

/** How one party of a bridge is held: the bridge opens for it, and is closed again after the last hold. */
export interface Parting {
  /** Whether the legs are bridged, or separated already. */
  isPossible(): boolean;
  part(): void;
  rejoin(): void;
}

/** Events from the target leg to its transfer. */
export interface TargetEvents {
  ringing(): void;
  /** The target answered, and its agent asks to bridge. */
  join(): void;
  /** Called once, also when the leg could not be started. */
  ended(termination: Termination): void;
  readonly parting: Parting;
  /** Whether the leg has a recording of its own: a call that is recorded goes on with it alone. */
  readonly recorded: boolean;
}

export interface TargetPlan {
  /** The call that is being transferred. */
  readonly parentId: string;
  /** Configuration to use, if the number has it as outbound. */
  readonly trunkId: string | null;
  /** Media leg that it will be bridged to. */
  readonly beside: MediaLeg | null;
  readonly replaces: string | null;
  readonly referredBy: string | null;
  /** When a call that continues on this leg must end, ms since the epoch; null: with its parent. */
  readonly deadline: number | null;
  /** Codecs to offer over a route. @throws CallRefused 488 when none fits */
  codecs(route: OutboundRoute): readonly CodecName[];
  /** Creates the agent that speaks to the target. */
  speaker(call: CallFacts, host: AgentHost): AgentLeg;
  readonly events: TargetEvents;
}

/**
 * Codecs offered to a target that will be bridged to media in `codec`: only that one, unless transcoding is allowed. For
 * a browser it always is: it speaks to agents in Opus, which few PBXs have.
 * @throws CallRefused 488 when the route does not have it and may not transcode
 */
export function codecsFor(
  codec: CodecName | null,
  route: OutboundRoute,
  transcode: boolean,
): readonly CodecName[] {
  const own = route.codecs.length > 0 ? route.codecs : defaultCodecs;
  if (codec === null) return own;
  const others = own.filter((other) => other !== codec);
  // A foreign host has no codec list that could exclude it.
  const allowed = others.length < own.length || route.codecs.length === 0;
  if (transcode) return allowed ? [codec, ...others] : own;
  if (allowed) return [codec];
  throw new CallRefused(
    488,
    `The call uses ${codec}, which the target's configuration does not list, and transcoding is off.`,
  );
}
