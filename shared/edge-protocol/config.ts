/** The edge's configuration, sent by control. */
import { type Static, Type } from 'typebox';
import { Pronunciation } from '../pronunciation-entry.ts';
import { AgentTool, RealtimeConnection } from './agents.ts';
import { CallLimits, NumberConfig } from './numbers.ts';
import { OrgRecording } from './recordings.ts';

/** A pathway version as the edge needs it; shared/agent validates the graph when it is loaded. */
export const PathwayConfig = Type.Object({
  pathway_id: Type.String(),
  version: Type.Integer(),
  org_id: Type.String(),
  name: Type.String(),
  nodes: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  edges: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  /** the available tools that its nodes name */
  tools: Type.Optional(Type.Array(AgentTool)),
});
export type PathwayConfig = Static<typeof PathwayConfig>;

/** What the credentials of browsers are checked with (shared/phone-session.ts). */
export const OrgPhones = Type.Object({
  keys: Type.Array(
    Type.Object({
      generation: Type.Integer(),
      /** base64 */
      key: Type.String(),
      /** sessions that expire later are not made with it, ms since the epoch; absent: the current key */
      until: Type.Optional(Type.Integer()),
    }),
  ),
  /** ids of sessions that were revoked before they expire */
  revoked: Type.Array(Type.String()),
});
export type OrgPhones = Static<typeof OrgPhones>;

export const OrgConfig = Type.Object({
  org_id: Type.String(),
  /** hex; signs webhooks and the stream handshake (contract 13 and 9.5) */
  signing_secret: Type.String(),
  call_limits: Type.Optional(CallLimits),
  /** absent: from a control plane that keeps no recordings */
  recording: Type.Optional(OrgRecording),
  /** servers of its realtime agents; absent: none */
  realtime: Type.Optional(Type.Array(RealtimeConnection)),
  /** how its agents pronounce words; absent: as they are written */
  pronunciations: Type.Optional(Type.Array(Pronunciation)),
  /** names and words that callers are likely to say; absent: none */
  key_terms: Type.Optional(Type.Array(Type.String())),
  /** absent: from a control plane without phone sessions */
  phones: Type.Optional(OrgPhones),
});
export type OrgConfig = Static<typeof OrgConfig>;

/** What the operator decides about the edge that gets the configuration. Absent in a change: as before. */
const operatorWishes = {
  /** addresses of the SIP proxies that name a request's real source (edge/signaling/admission/source-of.ts) */
  trusted_proxies: Type.Optional(Type.Array(Type.String())),
  /** whether the edge takes no new calls; it keeps those that it has */
  draining: Type.Optional(Type.Boolean()),
};

/** Everything the edge needs to take calls. Stored on disk, so calls continue while control is away. */
export const EdgeConfig = Type.Object({
  version: Type.Integer(),
  organizations: Type.Array(OrgConfig),
  numbers: Type.Array(NumberConfig),
  pathways: Type.Array(PathwayConfig),
  /** private networks in CIDR form that outgoing connections may reach (contract 1.9) */
  allowed_private_targets: Type.Array(Type.String()),
  /** whether inbound calls are accepted from every source when a number lists none (SIP_OPEN_INBOUND) */
  open_inbound: Type.Boolean(),
  ...operatorWishes,
});
export type EdgeConfig = Static<typeof EdgeConfig>;

/** The difference between two configurations, by key: new and changed entries, and removed ones. */
export const EdgeConfigChange = Type.Object({
  from_version: Type.Integer(),
  version: Type.Integer(),
  organizations: Type.Array(OrgConfig),
  numbers: Type.Array(NumberConfig),
  pathways: Type.Array(PathwayConfig),
  removed_organizations: Type.Array(Type.String()),
  removed_numbers: Type.Array(Type.String()),
  /** `<pathway id>@<version>` */
  removed_pathways: Type.Array(Type.String()),
  ...operatorWishes,
});
export type EdgeConfigChange = Static<typeof EdgeConfigChange>;
