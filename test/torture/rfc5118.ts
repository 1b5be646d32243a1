/** RFC 5118: each message with the required behavior of a user agent on a TLS connection, and why. */
import { expect } from 'vitest';
import { parseAddress } from '../../edge/engine/message/address.ts';
import type { SipMessage } from '../../edge/engine/message/message.ts';
import { parseUri } from '../../edge/engine/message/uri.ts';
import { parseVia } from '../../edge/engine/message/via.ts';
import type { TortureCase } from './case.ts';

function target(message: SipMessage) {
  return message.kind === 'request' ? parseUri(message.uri) : null;
}

function topVia(message: SipMessage) {
  return parseVia(message.headers.get('via') ?? '');
}

const EMPTY_LINE = { octets: '\r\n', because: 'the file lacks the empty line that ends the head' };

export const RFC5118: readonly TortureCase[] = [
  {
    file: 'ipv6-good.sip',
    section: '4.1',
    asks: 'IPv6 references in Request-URI, Via and Contact',
    said: ['accept REGISTER'],
    and: (message) => {
      expect(target(message)).toMatchObject({ host: '2001:db8::10', port: undefined });
      expect(topVia(message)).toMatchObject({ host: '2001:db8::9:1', port: undefined });
    },
  },
  {
    file: 'ipv6-bad.sip',
    section: '4.2',
    asks: 'an IPv6 address without brackets in the Request-URI: 400',
    said: ['answer 400 Bad Request-URI'],
  },
  {
    file: 'port-ambiguous.sip',
    section: '4.3',
    asks: 'inside the brackets all is address, even what was meant as a port',
    said: ['accept REGISTER'],
    and: (message) => expect(target(message)).toMatchObject({ host: '2001:db8::10:5070', port: undefined }),
  },
  {
    file: 'port-unambiguous.sip',
    section: '4.4',
    asks: 'a port after the bracket',
    said: ['accept REGISTER'],
    and: (message) => expect(target(message)).toMatchObject({ host: '2001:db8::10', port: 5070 }),
  },
  {
    file: 'via-received-param-with-delim.sip',
    section: '4.5',
    asks: 'received with brackets, as some write it',
    said: ['accept BYE'],
    and: (message) => expect(topVia(message)?.received).toBe('2001:db8::9:255'),
  },
  {
    file: 'via-received-param-no-delim.sip',
    section: '4.5',
    asks: 'received without brackets, as the grammar has it',
    said: ['accept OPTIONS'],
    and: (message) => expect(topVia(message)?.received).toBe('2001:db8::9:255'),
  },
  {
    file: 'ipv6-in-sdp.sip',
    section: '4.6',
    asks: 'IPv6 addresses in the body change nothing',
    lengthCorrected: 'the RFC prints 268 for a body of 251 octets, and here the addresses are the matter',
    said: ['accept INVITE'],
  },
  {
    file: 'mult-ip-in-header.sip',
    section: '4.7',
    asks: 'IPv4 and IPv6 mixed in Via',
    said: ['accept BYE'],
    and: (message) => {
      const hosts = message.headers.all('via').map((via) => parseVia(via)?.host);
      expect(hosts).toEqual(['2001:db8::9:1', '192.0.2.1', '2001:db8::9:255']);
      expect(topVia(message)?.port).toBe(6050);
    },
  },
  {
    file: 'mult-ip-in-sdp.sip',
    section: '4.8',
    asks: 'IPv4 and IPv6 mixed in the body',
    lengthCorrected: 'the RFC prints 181 for a body of 189 octets, and here the addresses are the matter',
    said: ['accept INVITE'],
  },
  {
    file: 'ipv4-mapped-ipv6.sip',
    section: '4.9',
    asks: 'IPv4-mapped IPv6 addresses',
    lengthCorrected: 'the RFC prints 236 for a body of 245 octets, and here the addresses are the matter',
    said: ['accept INVITE'],
    and: (message) => {
      expect(topVia(message)).toMatchObject({ host: '::ffff:192.0.2.10', port: 19823 });
      const contact = parseAddress(message.headers.get('contact') ?? '');
      expect(parseUri(contact?.uri ?? '')?.host).toBe('::ffff:192.0.2.2');
    },
  },
  {
    file: 'ipv6-bug-abnf-3-colons.sip',
    section: '4.10',
    asks: 'the third colon that the first grammar of RFC 3261 asked for is tolerated',
    completedBy: EMPTY_LINE,
    said: ['accept OPTIONS'],
    and: (message) => expect(target(message)?.host).toBe('2001:db8::192.0.2.1'),
  },
  {
    file: 'ipv6-correct-abnf-2-colons.sip',
    section: '4.10',
    asks: 'the same address as it should be written',
    completedBy: EMPTY_LINE,
    said: ['accept OPTIONS'],
    and: (message) => expect(target(message)?.host).toBe('2001:db8::192.0.2.1'),
  },
];
