/** A number of the edge: allowed callers, outbound trunks, and limits. */
import { type Static, Type } from 'typebox';
import { codecNames } from '#shared/codecs.ts';
import { transferModes } from '#shared/transfer-mode.ts';
import { OutboundTrunkCore } from '#shared/trunk-protocol.ts';
import { AgentSettings } from './agents.ts';
import { Iso, Nullable } from './schema.ts';

/** Absent: the default. */
const TransferMode = Type.Enum([...transferModes]);

/** Contract 2.8, as stored. */
export const HeaderMapping = Type.Union([
  Type.Object({
    type: Type.Literal('custom'),
    key: Type.String(),
    value: Type.String(),
    passthrough: Type.Optional(Type.Boolean()),
  }),
  Type.Object({
    type: Type.Literal('uui'),
    target: Type.String(),
    purpose: Type.Optional(Type.String()),
    encoding: Type.Literal('hex'),
    content: Type.Optional(Type.String()),
  }),
]);
export type HeaderMapping = Static<typeof HeaderMapping>;

/** The realm of all edges: the same, so that a PBX needs one set of credentials for all of them. */
export const digestRealm = 'trunkline';

/** One inbound configuration of a number (contract 2.2). */
export const InboundTrunk = Type.Object({
  id: Type.String(),
  auth_mode: Type.Union([Type.Literal('ip'), Type.Literal('register')]),
  /** addresses or CIDR blocks */
  allowed_ips: Type.Array(Type.String()),
  /** host whose resolved addresses are also allowed */
  source_host: Nullable(Type.String()),
  transfer_mode: Type.Optional(TransferMode),
  headers: Type.Array(HeaderMapping),
  codecs: Type.Array(Type.Enum([...codecNames])),
  /** credentials with which a caller authenticates; the lists then name nobody */
  digest: Type.Optional(
    Type.Object({
      username: Type.String(),
      /** in plain text */
      password: Type.String(),
      /** base64; signs the nonces of all edges, because a proxy may send each INVITE of a call to another one */
      nonce_key: Type.String(),
    }),
  ),
  /** where the edge registers for this record; absent or null with `auth_mode` ip */
  registration: Type.Optional(
    Nullable(
      Type.Object({
        host: Type.String(),
        port: Type.Integer(),
        /** Contact user and authorization user */
        username: Type.String(),
        /** derived (contract 2.3), in plain text */
        password: Type.String(),
        expires_s: Type.Integer(),
        /** when the record was last changed: the edge then retries at once, unless it is registered */
        changed_at: Type.Optional(Iso),
      }),
    ),
  ),
});
export type InboundTrunk = Static<typeof InboundTrunk>;

/** One outbound configuration of a number, its credentials in plain text. */
export const OutboundTrunk = Type.Object({
  ...OutboundTrunkCore,
  headers: Type.Array(HeaderMapping),
  transfer_mode: Type.Optional(TransferMode),
});
export type OutboundTrunk = Static<typeof OutboundTrunk>;

/** Limits on outgoing calls, against toll fraud. Null or absent: no limit of that kind. */
export const CallLimits = Type.Object({
  /** concurrent outgoing calls */
  concurrent: Type.Optional(Nullable(Type.Integer())),
  /** outgoing calls started within 60 s */
  per_minute: Type.Optional(Nullable(Type.Integer())),
  /** E.164 prefixes with plus; if any, only matching numbers are called */
  allowed_prefixes: Type.Optional(Nullable(Type.Array(Type.String()))),
  /** E.164 prefixes with plus that are never called; the longest matching prefix decides between the two lists */
  blocked_prefixes: Type.Optional(Nullable(Type.Array(Type.String()))),
});
export type CallLimits = Static<typeof CallLimits>;

export const NumberConfig = Type.Object({
  /** E.164 with plus */
  number: Type.String(),
  org_id: Type.String(),
  call_limits: Type.Optional(CallLimits),
  inbound: Type.Array(InboundTrunk),
  /** by priority; empty: no outbound calls from this number */
  outbound: Type.Array(OutboundTrunk),
  /** null: the number is known, but has no agent (480) */
  agent: Nullable(AgentSettings),
});
export type NumberConfig = Static<typeof NumberConfig>;
