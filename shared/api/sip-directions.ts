/** One direction of a number, as it is attached and updated (contract 2.3). */
import { type Static, Type } from 'typebox';
import { Closed, Integer, Line, List, Nullable, OneOf, Text } from '#shared/api/common.ts';
import { described } from '#shared/described.ts';
import { transferModes } from '#shared/transfer-mode.ts';

const Optional = Type.Optional;

/** Only `tls` is accepted; the other two are listed so that the error can say why. */
export const Transport = OneOf(['tls', 'udp', 'tcp']);

const mapped = {
  type: Type.Literal('custom', { description: 'A header that is mapped to a variable, or a constant one' }),
  key: Text(
    1,
    128,
    'inbound: SIP header; outbound: variable; with `passthrough`: the name that gets the value',
  ),
  value: Text(0, 1024, 'inbound: variable; outbound: SIP header; with `passthrough`: the text itself'),
};
export const HeaderItem = Type.Union([
  Closed({
    ...mapped,
    passthrough: Optional(
      Type.Boolean({ description: 'Whether `value` is a constant text; default: false' }),
    ),
  }),
  Closed({
    type: Type.Literal('uui', { description: 'User-to-User header, RFC 7433' }),
    target: Text(1, 128, 'inbound: variable that gets the content'),
    purpose: Optional(Text(0, 64, 'Purpose parameter of the header')),
    encoding: Type.Literal('hex', { description: 'Always hex' }),
    content: Optional(Text(0, 1024, 'outbound: variable that is sent, or the text itself')),
  }),
]);
const Headers = (direction: 'inbound' | 'outbound') =>
  Nullable(
    Closed({
      direction: Type.Literal(direction, { description: 'Direction of the configuration' }),
      headers: List(HeaderItem, 0, 15, 'Items of the mapping; replaces the list'),
    }),
  );

export const TransferMode = OneOf(
  transferModes,
  'Targets of a REFER from the peer: none, SIP users at the own hosts of the configuration, or also phone numbers and outbound configurations',
);
const common = {
  port: Optional(Integer(1, 65535, 'Port of the peer; default: 5061, or that of `sip_endpoint`')),
  transport: Optional(
    described(Transport, 'Always tls; udp and tcp are refused with TRANSPORT_NOT_ALLOWED; default: tls'),
  ),
  secure_media: Optional(
    Type.Boolean({ description: 'Always true: false is refused with SECURE_MEDIA_REQUIRED; default: true' }),
  ),
  transfer_mode: Optional(TransferMode),
};
const InboundOptions = Closed({
  ...common,
  allowed_ips: Optional(
    List(Text(1, 64), 0, 50, 'Addresses and CIDR blocks that may call; replaces the list'),
  ),
});
export const OutboundOptions = Closed({
  ...common,
  sip_username: Optional(Nullable(Line(1, 128), 'User name for digest; null: none')),
  sip_password: Optional(
    Nullable(Line(1, 256), 'Password for digest; `********` keeps the stored one; null: none'),
  ),
  sip_realm: Optional(Nullable(Line(1, 255), 'Realm for which the credentials count; null: any')),
});

export const AuthMode = OneOf(['ip', 'register', 'digest']);
export const RegisterAuth = Closed({
  username: Line(1, 128, 'User of the Contact and of the authentication'),
  password: Line(8, 256, 'Password that the other one is derived from; `********` keeps the stored one'),
});
/** Letters that no PBX writes with escapes; an address of the form `user@host` is one too. */
const DigestUser = Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9._~+@-]+$' });
export const DigestAuth = Closed({
  username: described(DigestUser, 'User name with which the PBX authenticates'),
  password: Line(8, 256, 'Its password, at least 12 characters; `********` keeps the stored one'),
});
const Priority = Integer(1, 100);
export const SipEndpoint = Text(1, 255, 'Host or SIP URI');

export const InboundDirection = Closed({
  type: Type.Literal('inbound', { description: 'Calls to the service' }),
  priority: Optional(described(Priority, '1 to 100, lower is tried first; default: the highest used and 1')),
  auth_mode: Optional(described(AuthMode, 'How callers are admitted; default: ip')),
  register_auth: Optional(described(RegisterAuth, 'With `register`: credentials of the registration')),
  digest_auth: Optional(described(DigestAuth, 'With `digest`: credentials of the caller')),
  sip_endpoint: Optional(
    Nullable(SipEndpoint, 'With `register`: the registrar; with `ip`: a trusted host; null: none'),
  ),
  headers: Optional(described(Headers('inbound'), 'Headers that become variables; null: none')),
  options: Optional(described(InboundOptions, 'Settings of the configuration')),
});
export type InboundDirection = Static<typeof InboundDirection>;

export const OutboundDirection = Closed({
  type: Type.Literal('outbound', { description: 'Calls from the service' }),
  priority: Optional(described(Priority, '1 to 100, lower is tried first; default: the highest used and 1')),
  sip_endpoint: Optional(
    described(SipEndpoint, 'Host or SIP URI that is called; required when it is attached'),
  ),
  headers: Optional(described(Headers('outbound'), 'Variables that become headers; null: none')),
  options: Optional(described(OutboundOptions, 'Settings of the configuration')),
});
export type OutboundDirection = Static<typeof OutboundDirection>;
