/** Ribbon SBC Edge (SBC 1000, SBC 2000, SWe Edge), which a PBX is connected to. */
import { type PbxFacts, type PbxFile, passwordToFill } from './facts.ts';
import { asFile, registersNot, type WebPage } from './web-pages.ts';

export function ribbon(facts: PbxFacts): readonly PbxFile[] {
  return [asFile('web pages, Settings', ribbonPages(facts), registersNot(facts.access))];
}

/** What the SBC calls the codecs. */
const profiles: Readonly<Record<string, string>> = {
  PCMU: 'G.711 µ-law',
  PCMA: 'G.711 A-law',
  'G.722': 'G.722',
  'G.729': 'G.729',
};

const ours = 'Trunkline';

export function ribbonPages(facts: PbxFacts): readonly WebPage[] {
  return [...security(facts), ...server(facts), ...group(facts), ...routes(facts)];
}

function security({ codecs }: PbxFacts): readonly WebPage[] {
  return [
    {
      place: 'Security → SBC Certificates',
      fields: [
        ['SBC Primary Certificate', { own: "the SBC's own certificate" }],
        ['Trusted CA Certificates', { own: "import the authority of the edge's certificate" }],
      ],
    },
    {
      place: 'Security → TLS Profiles',
      makes: 'a new one',
      fields: [
        ['Description', ours],
        ['TLS Protocol', 'TLS 1.2-1.3'],
        ['Mutual Authentication', 'Disabled'],
        ['Verify Peer Server Certificate', 'Enabled'],
      ],
    },
    {
      place: 'Media → SDES-SRTP Profiles',
      makes: 'a new one',
      fields: [
        ['Description', ours],
        ['Operation Option', 'Required'],
        ['Crypto Suite', 'AES_CM_128_HMAC_SHA1_80'],
        ['Master Key Identifier Length', '0'],
      ],
    },
    {
      place: 'Media → Media List',
      makes: 'a new one',
      fields: [
        ['Description', ours],
        ['Media Profiles List', codecs.flatMap((codec) => profiles[codec] ?? []).join(', ')],
        ['SDES-SRTP Profile', ours],
        ['Digit (DTMF) Relay Type', 'RFC 2833'],
        ['Digit Relay Payload Type', '101'],
        ['Silence Suppression', 'Disabled'],
      ],
    },
  ];
}

function server({ access, port, server: host }: PbxFacts): readonly WebPage[] {
  const challenged = access.how === 'digest' ? access : null;
  return [
    ...(challenged
      ? [
          {
            place: 'SIP → Remote Authorization Tables',
            makes: `a new table ${ours} with an entry, for the challenge of the edge`,
            fields: [
              ['Realm', challenged.realm],
              ['Authentication ID', challenged.username],
              ['Enter Password', passwordToFill],
              ['From URI User Match', 'Regex'],
              ['Match Regex', '.*'],
            ] as const,
          },
        ]
      : []),
    {
      place: 'SIP → SIP Server Tables',
      makes: `a new table ${ours} with a server`,
      fields: [
        ['Server Lookup', 'IP/FQDN'],
        ['Host', host],
        ['Port', String(port)],
        ['Protocol', 'TLS'],
        ['TLS Profile', ours],
        ['Monitor', 'SIP Options'],
        ['Keep Alive Frequency', '60'],
        ...(challenged ? [['Remote Authorization Table', ours] as const] : []),
      ],
    },
  ];
}

function group({ addresses }: PbxFacts): readonly WebPage[] {
  return [
    {
      place: 'Signaling Groups',
      makes: 'Add SIP SG',
      fields: [
        ['Description', ours],
        ['SIP Mode', 'Basic Call'],
        ['Agent Type', 'Back-to-Back User Agent'],
        ['Call Routing Table', { own: 'the one that leads to the PBX' }],
        ['SIP Server Table', ours],
        ['Media List ID', ours],
        ['Signaling/Media Source IP', { own: 'the public address' }],
        ['Listen Port', '5061'],
        ['Listen Port, Protocol', 'TLS'],
        ['Listen Port, TLS Profile', ours],
        ...addresses.map((address) => ['Federated IP/FQDN', `${address}, netmask 255.255.255.255`] as const),
      ],
    },
  ];
}

function routes({ number }: PbxFacts): readonly WebPage[] {
  const called = number === null ? '(\\+.*)' : `(${number.replace('+', '\\+')})`;
  return [
    {
      place: "Call Routing, in the table of the PBX's signaling group",
      makes: 'a new route, calls to agents',
      fields: [
        ['Transformation, Called Address/Number, Input', called],
        ['Transformation, Called Address/Number, Output', '\\1'],
        ['Destination Signaling Groups', ours],
      ],
    },
    {
      place: `Call Routing, in the table of the signaling group ${ours}`,
      makes: 'a new route, calls of agents',
      fields: [
        ['Transformation', { own: 'the numbers that agents dial' }],
        ['Destination Signaling Groups', { own: "the PBX's" }],
      ],
    },
  ];
}
