/** What is configured on a firewall and in a PBX (contract 3.3). */
import { Type } from 'typebox';
import { Nullable, OneOf, PhoneNumber, Plain } from '#shared/api/common.ts';
import { pbxNames } from '#shared/pbx/text.ts';

const Optional = Type.Optional;
const text = Type.String();

export const OutboundSetupQuery = Type.Object({
  phone_number: Optional(PhoneNumber('Fills in this number and its configuration')),
  pbx: Optional(OneOf(pbxNames, 'the answer has the configuration of this PBX as text')),
});

export const FirewallIps = Plain(
  Type.Object({
    region: Type.String({ description: 'Region of the organization' }),
    ip_addresses: Type.Array(text, {
      maxItems: 100,
      description: 'Addresses from which calls and media come',
    }),
    ports: Type.Object(
      {
        sip: Type.String({ description: 'Port of signaling' }),
        rtp: Type.String({ description: 'Ports of media' }),
      },
      { description: 'Ports to open' },
    ),
  }),
);

export const OutboundSetup = Plain(
  Type.Object({
    sip_server: Type.String({ description: 'Name or address under which peers reach the edge' }),
    port: Type.Integer({ description: 'Port of SIP over TLS' }),
    transport: Type.String({ description: 'Always tls' }),
    srtp: Type.String({ description: 'Crypto suite of SRTP' }),
    codecs: Type.Array(text, { maxItems: 5, description: 'Codecs that are offered by default' }),
    instructions: Type.String({ description: 'What to configure, in sentences' }),
    credentials: Optional(
      Type.Object(
        {
          username: Type.String({ description: 'User name' }),
          password: Type.String({ description: 'Always masked' }),
          realm: Nullable(text, 'Realm of the digest; null: any'),
        },
        {
          description:
            'With what the PBX registers or authenticates; only with a number that has such a configuration',
        },
      ),
    ),
    files: Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'where the text belongs in the PBX: a file, or its web pages' }),
          text: Type.String({
            description: 'to copy; names of files, and a password, are for you to fill in',
          }),
        }),
        { maxItems: 5, description: 'With `pbx`: its configuration files, filled in' },
      ),
    ),
  }),
);
