/** Edges and SIP proxies, for operators (contract 14.4). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  Line,
  List,
  Nullable,
  OneOf,
  PageQuery,
  PathId,
  Plain,
  Text,
} from './common.ts';

const text = Type.String();

export const EdgesQuery = PageQuery(500, 100);
export const EdgePath = PathId('id', 'Of the edge, as its log and /health show it');

export const EdgeView = Type.Object({
  id: text,
  software: text,
  version: Nullable(
    OneOf(['older', 'same', 'newer'], "Compared with this control plane's; newer: upgrade the control plane"),
  ),
  sip: Type.Object({
    host: text,
    port: Type.Integer(),
    wss_url: Nullable(
      Type.String({ description: 'Where browsers call; null: it takes none of their calls' }),
    ),
  }),
  rtp: Type.Object({ ip: text, port_min: Type.Integer(), port_max: Type.Integer() }),
  region: Nullable(Type.String({ description: 'null: it serves every region' })),
  weight: Type.Integer(),
  draining: Type.Boolean({ description: 'Whether it was taken out of service' }),
  draining_since: Nullable(Iso()),
  connected: Type.Boolean(),
  connected_since: Nullable(Iso()),
  last_seen_at: Iso(),
  takes_calls: Nullable(
    Type.Boolean({
      description: 'By what it reported last; null while it is not connected, and until it has reported',
    }),
  ),
  calls: Nullable(Type.Integer({ description: 'Live calls; null while it is not connected' })),
  load: Nullable(
    Type.Object({
      most_calls: Nullable(Type.Integer({ description: 'Its MAX_CALLS' })),
      rtp_ports: Nullable(Type.Integer()),
      rtp_ports_in_use: Nullable(Type.Integer()),
      host_load: Nullable(
        Type.Number({
          description: "The host's load average of a minute, per processor: above 1 work waits",
        }),
      ),
    }),
  ),
  engine: Nullable(OneOf(['up', 'down'])),
  disk: Nullable(OneOf(['ok', 'failing', 'refusing_calls'])),
  certificate: Nullable(
    Type.Object(
      {
        expires_at: Iso(),
        other_host: Type.Boolean({ description: 'Whether it is not for SIP_PUBLIC_HOST: peers reject it' }),
      },
      { description: 'That peers get; null while it is not connected, and with a drachtio-server' },
    ),
  ),
  config_version: Nullable(Type.Integer({ description: 'Configuration that it has confirmed' })),
});
export type EdgeView = Static<typeof EdgeView>;

export const EdgeList = Plain(Type.Object({ edges: Type.Array(EdgeView), total_count: Type.Integer() }));
export const EdgeOne = Plain(Type.Object({ edge: EdgeView }));

export const EdgeRemoved = Plain(Type.Object({ id: text }));

export const EdgeWeight = Integer(0, 1000, 'Share of outbound calls; 0: only when no other edge takes them');
/** As `TRUNKLINE_REGION` and organizations name it. */
export const RegionName = Line(1, 64);

export const EdgePatch = Closed({
  draining: Type.Optional(Type.Boolean()),
  weight: Type.Optional(EdgeWeight),
  region: Type.Optional(Nullable(RegionName)),
});
export type EdgePatch = Static<typeof EdgePatch>;

/** Enough for a pair of proxies in each of ten regions. */
const mostProxies = 20;

export const Proxies = Plain(Type.Object({ addresses: Type.Array(text, { maxItems: mostProxies }) }));
export const ProxiesBody = Closed({
  addresses: List(Text(1, 64, 'Address of a proxy, not a network'), 0, mostProxies),
});
