/**
 * Frames of a fleet of edges (docs/internals/fleet.md). Control sends them only to edges whose hello has `fleet`, and
 * such edges send them only to a control plane whose welcome has it.
 */
import { type Static, Type } from 'typebox';
import { Endpoint } from '#shared/trunk-protocol.ts';
import { Iso, Nullable } from './schema.ts';

/** A registrar's rejection: no attempt before `until`. */
export const Refusal = Type.Object({
  until: Iso,
  pause_ms: Type.Integer(),
  sip_code: Nullable(Type.Integer()),
  error: Type.String(),
});
export type Refusal = Static<typeof Refusal>;

/** Who is in the fleet. `from` null: these are all; otherwise the difference to that epoch. */
export const Membership = Type.Object({
  type: Type.Literal('fleet'),
  epoch: Type.Integer(),
  from: Nullable(Type.Integer()),
  joined: Type.Array(Type.String()),
  left: Type.Array(Type.String()),
});
export type Membership = Static<typeof Membership>;

/** A probe of the assigned edge. */
export const LearnedProbe = Type.Object({
  endpoint: Endpoint,
  healthy: Type.Boolean(),
  consecutive_failures: Type.Integer(),
});
export type LearnedProbe = Static<typeof LearnedProbe>;

/** The endpoint that the next call over a trunk tries first. */
export const TrunkMove = Type.Object({ trunk_id: Type.String(), active_priority: Type.Integer() });
export type TrunkMove = Static<typeof TrunkMove>;

/** The registration of a record at the assigned edge. */
export const LearnedRegistration = Type.Object({
  trunk_id: Type.String(),
  registered: Type.Boolean(),
  /** where that edge takes calls */
  edge: Type.Object({ id: Type.String(), host: Type.String(), port: Type.Integer() }),
  /** when that edge reported it */
  at: Iso,
  /** address of the registrar that granted the last binding; null: none has */
  bound_at: Nullable(Type.String()),
  refusal: Nullable(Refusal),
});
export type LearnedRegistration = Static<typeof LearnedRegistration>;

/** What other edges have found out. */
export const Learned = Type.Object({
  type: Type.Literal('learned'),
  /** the complete state: trunks that are not in `moves` use their primary */
  complete: Type.Boolean(),
  probes: Type.Array(LearnedProbe),
  moves: Type.Array(TrunkMove),
  registrations: Type.Array(LearnedRegistration),
});
export type Learned = Static<typeof Learned>;

/** An organization or a number whose outgoing calls are limited; null: no limit of that kind. */
export const CallScope = Type.Object({
  scope: Type.String(),
  concurrent: Nullable(Type.Integer()),
  per_minute: Nullable(Type.Integer()),
});
export type CallScope = Static<typeof CallScope>;

/** The calls of one edge in a scope. */
export const HeldCalls = Type.Object({
  scope: Type.String(),
  live: Type.Integer(),
  started_ms_ago: Type.Array(Type.Integer()),
});
export type HeldCalls = Static<typeof HeldCalls>;

/** From an edge with others beside it, so that limits hold for all together. */
export const CallCountFrame = Type.Union([
  /** All that it holds; first on each link, when the fleet gets a second edge, and when control wants it. */
  Type.Object({ type: Type.Literal('calls_held'), held: Type.Array(HeldCalls) }),
  /** May a call start? */
  Type.Object({ type: Type.Literal('call_ask'), id: Type.String(), scopes: Type.Array(CallScope) }),
  /** A call has started without asking. */
  Type.Object({ type: Type.Literal('call_begun'), scopes: Type.Array(Type.String()) }),
  /** A call is over; `sent`: something of it was sent, so it counts as started. */
  Type.Object({ type: Type.Literal('call_over'), scopes: Type.Array(Type.String()), sent: Type.Boolean() }),
]);
export type CallCountFrame = Static<typeof CallCountFrame>;

/** Control counts again: the edge sends `calls_held`. */
export const CallsWanted = Type.Object({ type: Type.Literal('calls_wanted') });
export type CallsWanted = Static<typeof CallsWanted>;

/** The answer to `call_ask`. `unknown`: control does not know yet what all edges hold; the edge asks again. */
export const CallAnswer = Type.Object({
  type: Type.Literal('call_answer'),
  id: Type.String(),
  answer: Type.Union([Type.Literal('counted'), Type.Literal('full'), Type.Literal('unknown')]),
  /** of `full`: which limit */
  scope: Type.Optional(Type.String()),
  reason: Type.Optional(Type.Union([Type.Literal('concurrent'), Type.Literal('per_minute')])),
});
export type CallAnswer = Static<typeof CallAnswer>;

/** What control sends about the fleet. */
export type FleetFrame = Membership | Learned | CallAnswer | CallsWanted;
