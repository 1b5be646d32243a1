/** Edges and SIP proxies, for operators (contract 14.4). */
import { type Static, Type } from 'typebox';
import { described } from '#shared/described.ts';
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
  id: Type.String({ description: 'Id of the edge' }),
  software: Type.String({ description: 'Program and version' }),
  version: Nullable(
    OneOf(
      ['older', 'same', 'newer'],
      "Compared with this control plane's; newer: upgrade the control plane; null: not connected, or not reported yet",
    ),
  ),
  sip: Type.Object(
    {
      host: Type.String({ description: 'Host name or address' }),
      port: Type.Integer({ description: 'Port of SIP over TLS' }),
      wss_url: Nullable(
        Type.String({ description: 'Where browsers call; null: it takes none of their calls' }),
      ),
    },
    { description: 'Where peers reach it' },
  ),
  rtp: Type.Object(
    {
      ip: Type.String({ description: 'Address of its media' }),
      port_min: Type.Integer({ description: 'First port of its media' }),
      port_max: Type.Integer({ description: 'Last port of its media' }),
    },
    { description: 'Where its media is' },
  ),
  region: Nullable(Type.String({ description: 'null: it serves every region' })),
  weight: Type.Integer({
    description: 'Share of the calls that the API places; 0: only when no other edge takes them',
  }),
  draining: Type.Boolean({ description: 'Whether it was taken out of service' }),
  draining_since: Nullable(Iso(), 'Since when it is taken out of service; null: it is not'),
  connected: Type.Boolean({ description: 'Whether it is connected to the control plane' }),
  connected_since: Nullable(Iso(), 'Since when; null: it is not connected'),
  last_seen_at: Iso('When it reported last'),
  takes_calls: Nullable(
    Type.Boolean({
      description: 'By what it reported last; null while it is not connected, and until it has reported',
    }),
  ),
  calls: Nullable(Type.Integer({ description: 'Live calls; null while it is not connected' })),
  load: Nullable(
    Type.Object({
      most_calls: Nullable(Type.Integer({ description: 'Its MAX_CALLS; null: it does not say' })),
      rtp_ports: Nullable(Type.Integer(), 'Pairs of RTP ports; null: it does not say'),
      rtp_ports_in_use: Nullable(Type.Integer(), 'Those in use; null: it does not say'),
      host_load: Nullable(
        Type.Number({
          description:
            "The host's load average of a minute, per processor: above 1 work waits; null: it does not say",
        }),
      ),
    }),
    'How busy it is; null: it is not connected, or has not reported',
  ),
  engine: Nullable(OneOf(['up', 'down']), 'Its SIP engine; null: it is not connected'),
  disk: Nullable(OneOf(['ok', 'failing', 'refusing_calls']), 'Its disk; null: it is not connected'),
  certificate: Nullable(
    Type.Object(
      {
        expires_at: Iso('When it expires'),
        other_host: Type.Boolean({ description: 'Whether it is not for SIP_PUBLIC_HOST: peers reject it' }),
      },
      { description: 'That peers get; null while it is not connected, and with a drachtio-server' },
    ),
  ),
  config_version: Nullable(
    Type.Integer({ description: 'Configuration that it has confirmed; null: none yet, or not connected' }),
  ),
});
export type EdgeView = Static<typeof EdgeView>;

export const EdgeList = Plain(
  Type.Object({
    edges: Type.Array(EdgeView, { description: 'By id' }),
    total_count: Type.Integer({ description: 'How many there are on all pages' }),
  }),
);
export const EdgeOne = Plain(Type.Object({ edge: described(EdgeView, 'The edge') }));

export const EdgeRemoved = Plain(Type.Object({ id: Type.String({ description: 'Id of the edge' }) }));

export const EdgeWeight = Integer(0, 1000, 'Share of outbound calls; 0: only when no other edge takes them');
/** As `TRUNKLINE_REGION` and organizations name it. */
export const RegionName = Line(1, 64);

export const EdgePatch = Closed({
  draining: Type.Optional(
    Type.Boolean({
      description: 'Whether to take it out of service: it finishes its calls and accepts no more',
    }),
  ),
  weight: Type.Optional(EdgeWeight),
  region: Type.Optional(Nullable(RegionName, 'Region that it serves; null: every region')),
});
export type EdgePatch = Static<typeof EdgePatch>;

/** Enough for a pair of proxies in each of ten regions. */
const mostProxies = 20;

export const Proxies = Plain(
  Type.Object({
    addresses: Type.Array(text, {
      maxItems: mostProxies,
      description: 'Addresses of the proxies in front of the edges',
    }),
  }),
);
export const ProxiesBody = Closed({
  addresses: List(
    Text(1, 64, 'Address of a proxy, not a network'),
    0,
    mostProxies,
    'Addresses of the proxies in front of the edges; replaces the list',
  ),
});
