/** What is configured on a firewall and in a PBX (contract 3.3). */
import { Type } from 'typebox';
import { Nullable, OneOf, PhoneNumber, Plain } from '#shared/api/common.ts';
import { pbxNames } from '#shared/pbx/text.ts';

const Optional = Type.Optional;
const text = Type.String();

export const OutboundSetupQuery = Type.Object({
  phone_number: Optional(PhoneNumber()),
  pbx: Optional(OneOf(pbxNames, 'the answer has the configuration of this PBX as text')),
});

export const FirewallIps = Plain(
  Type.Object({
    region: text,
    ip_addresses: Type.Array(text, { maxItems: 100 }),
    ports: Type.Object({ sip: text, rtp: text }),
  }),
);

export const OutboundSetup = Plain(
  Type.Object({
    sip_server: text,
    port: Type.Integer(),
    transport: text,
    srtp: text,
    codecs: Type.Array(text, { maxItems: 5 }),
    instructions: text,
    credentials: Optional(Type.Object({ username: text, password: text, realm: Nullable(text) })),
    files: Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'where the text belongs in the PBX' }),
          text: Type.String({
            description: 'to copy; names of files, and a password, are for you to fill in',
          }),
        }),
        { maxItems: 5 },
      ),
    ),
  }),
);
