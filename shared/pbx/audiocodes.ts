/** AudioCodes Mediant SBC 7.4, which a PBX is connected to: its IP group is `PBX`. */
import { type PbxFacts, type PbxFile, passwordToFill } from './facts.ts';
import { asFile, registersNot, type WebPage } from './web-pages.ts';

export function audiocodes(facts: PbxFacts): readonly PbxFile[] {
  return [asFile('web pages, Setup', audiocodesPages(facts), registersNot(facts.access))];
}

/** What the SBC calls the codecs. */
const coders: Readonly<Record<string, string>> = {
  PCMU: 'G.711 U-law',
  PCMA: 'G.711 A-law',
  'G.722': 'G.722',
  'G.729': 'G.729',
  Opus: 'Opus',
};

const ours = 'Trunkline';
const publicOne = { own: 'the one with the public address' };

export function audiocodesPages(facts: PbxFacts): readonly WebPage[] {
  const { access } = facts;
  return [
    {
      place: 'IP Network → Security → TLS Contexts',
      makes: 'a new one',
      fields: [
        ['Name', ours],
        ['TLS Version', 'TLSv1.2 and TLSv1.3'],
        ['Change Certificate', { own: "the SBC's own certificate" }],
        ['Trusted Root Certificates', { own: "import the authority of the edge's certificate" }],
      ],
    },
    {
      place: 'Signaling & Media → Core Entities → SIP Interfaces',
      makes: 'a new one',
      fields: [
        ['Name', ours],
        ['Network Interface', publicOne],
        ['Application Type', 'SBC'],
        ['UDP Port', '0'],
        ['TCP Port', '0'],
        ['TLS Port', '5061'],
        ['TLS Context Name', ours],
        ['TLS Mutual Authentication', 'Disable'],
        ['Media Realm', publicOne],
      ],
    },
    ...callsToAgents(facts),
    ...routes(facts),
    ...(access.how === 'digest'
      ? [
          {
            place: 'Signaling & Media → SIP Definitions → Accounts',
            makes: 'a new one, for the challenge of the edge',
            fields: [
              ['Served IP Group', 'PBX'],
              ['Serving IP Group', ours],
              ['User Name', access.username],
              ['Password', passwordToFill],
              ['Register', 'No'],
            ],
          } as const,
        ]
      : []),
  ];
}

function callsToAgents({ server, port, codecs, access }: PbxFacts): readonly WebPage[] {
  return [
    {
      place: 'Signaling & Media → Core Entities → Proxy Sets',
      makes: 'a new one',
      fields: [
        ['Name', ours],
        ['SBC IPv4 SIP Interface', ours],
        ['TLS Context Name', ours],
        ['Proxy Keep-Alive', 'Using OPTIONS'],
        ['Proxy Keep-Alive Time', '60'],
        ['Proxy Address', `${server}:${port}`],
        ['Transport Type', 'TLS'],
      ],
    },
    {
      place: 'Signaling & Media → Coders & Profiles → Allowed Audio Coders Groups',
      makes: 'a new one',
      fields: [
        ['Name', ours],
        ...codecs.flatMap((codec) => (coders[codec] ? [['Coder', coders[codec]] as const] : [])),
      ],
    },
    {
      place: 'Signaling & Media → Coders & Profiles → IP Profiles',
      makes: 'a new one',
      fields: [
        ['Name', ours],
        ['SBC Media Security Mode', 'Secured'],
        ['Symmetric MKI', 'Disable'],
        ['MKI Size', '0'],
        ['Allowed Audio Coders', ours],
        ['Allowed Coders Mode', 'Restriction'],
        ['RFC 2833 Mode', 'Extend'],
      ],
    },
    {
      place: 'Signaling & Media → Media → Media Security',
      fields: [
        ['Media Security', 'Enable'],
        ['Offered SRTP Cipher Suites', 'AES-CM-128-HMAC-SHA1-80'],
      ],
    },
    {
      place: 'Signaling & Media → Core Entities → IP Groups',
      makes: 'a new one',
      fields: [
        ['Name', ours],
        ['Type', 'Server'],
        ['Proxy Set', ours],
        ['IP Profile', ours],
        ['Media Realm', publicOne],
        ['SIP Group Name', server],
        ['Classify by Proxy Set', 'Enable'],
        ...(access.how === 'digest' ? [['Authentication Mode', 'SBC as Client'] as const] : []),
      ],
    },
  ];
}

function routes({ addresses, number }: PbxFacts): readonly WebPage[] {
  return [
    ...addresses.map((address) => ({
      place: 'Signaling & Media → SBC → Classification',
      makes: 'a new row, for calls of agents',
      fields: [
        ['Source SIP Interface', ours],
        ['Source IP Address', address],
        ['Action Type', 'Allow'],
        ['Source IP Group', ours],
      ] as const,
    })),
    {
      place: 'Signaling & Media → SBC → Routing → IP-to-IP Routing',
      makes: 'a new row, calls to agents',
      fields: [
        ['Source IP Group', 'PBX'],
        ['Destination Username Pattern', number ?? '+'],
        ['Destination Type', 'IP Group'],
        ['Destination IP Group', ours],
      ],
    },
    {
      place: 'Signaling & Media → SBC → Routing → IP-to-IP Routing',
      makes: 'a new row, calls of agents',
      fields: [
        ['Source IP Group', ours],
        ['Destination Username Pattern', '*'],
        ['Destination Type', 'IP Group'],
        ['Destination IP Group', 'PBX'],
      ],
    },
  ];
}
