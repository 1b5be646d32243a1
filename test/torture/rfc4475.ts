/**
 * RFC 4475: each message with the required behavior of a user agent on a TLS connection, and why.
 *
 * Long because it is one table, in the order of the RFC.
 */

import { expect } from 'vitest';
import { parseAddress, splitList, tagOf } from '../../edge/engine/message/address.ts';
import { parseCSeq } from '../../edge/engine/message/cseq.ts';
import { equalUris, parseUri, unescapeUri } from '../../edge/engine/message/uri.ts';
import { unsupportedOptions } from '../../edge/engine/message/validate.ts';
import { isMagicBranch, parseVia } from '../../edge/engine/message/via.ts';
import type { TortureCase } from './case.ts';

export const RFC4475: readonly TortureCase[] = [
  {
    file: 'wsinv.dat',
    section: '3.1.1.1',
    asks: 'folding, white space everywhere, compact forms and leading zeros are legal',
    said: ['accept INVITE'],
    and: (message) => {
      expect(message.headers.get('max-forwards')).toBe('0068');
      expect(parseCSeq(message.headers.get('cseq') ?? '')).toEqual({ number: 9, method: 'INVITE' });
      expect(tagOf(message.headers.get('to') ?? '')).toBe('1918181833n');
      expect(parseAddress(message.headers.get('from') ?? '')).toEqual({
        displayName: 'J Rosenberg \\"',
        uri: 'sip:jdrosen@example.com',
        params: new Map([['tag', '98asjd8']]),
      });
      expect(message.headers.get('subject')).toBe('');
      expect(message.headers.get('newfangledheader')).toBe('newfangled value continued newfangled value');
      const vias = message.headers.all('via').flatMap(splitList).map(parseVia);
      expect(vias.map((via) => [via?.transport, via?.host, via?.branch])).toEqual([
        ['UDP', '192.0.2.2', '390skdjuw'],
        ['TCP', 'spindle.example.com', 'z9hG4bK9ikj8'],
        ['UDP', '192.168.255.111', 'z9hG4bK30239'],
      ]);
      expect(message.body.length).toBe(150);
    },
  },
  {
    file: 'intmeth.dat',
    section: '3.1.1.2',
    asks: 'every character a token, a user part and a quoted string may hold, NUL included',
    said: ["accept !interesting-Method0123456789_*+`.%indeed'~"],
    and: (message) => {
      expect(parseAddress(message.headers.get('to') ?? '')?.displayName).toBe('BEL:\x07 NUL:\x00 DEL:\x7f');
      expect(tagOf(message.headers.get('from') ?? '')).toBe("_token~1'+`*%!-.");
      expect(message.headers.get("extensionheader-!.%*+_`'~")).toBe(
        '\xef\xbb\xbf\xe5\xa4\xa7\xe5\x81\x9c\xe9\x9b\xbb',
      );
      if (message.kind !== 'request') return;
      expect(parseUri(message.uri)).toMatchObject({
        user: "1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*",
        password: "&it+has=1,weird!*pas$wo~d_too.(doesn't-it)",
        host: 'example.com',
      });
    },
  },
  {
    file: 'esc01.dat',
    section: '3.1.1.3',
    asks: 'escapes in user parts and URI parameters; the user part holds an escaped URI of its own',
    said: ['accept INVITE'],
    and: (message) => {
      if (message.kind !== 'request') return;
      const uri = parseUri(message.uri);
      expect(unescapeUri(uri?.user ?? '')).toBe('sips:user@example.com');
      expect(uri?.host).toBe('example.net');
      expect(equalUris(message.headers.get('to') ?? '', 'sip:user@example.com')).toBe(true);
    },
  },
  {
    file: 'escnull.dat',
    section: '3.1.1.4',
    asks: 'an escaped NUL is a character like others and must not end the user part',
    said: ['accept REGISTER'],
    and: (message) => {
      const user = parseUri(parseAddress(message.headers.get('to') ?? '')?.uri ?? '')?.user ?? '';
      expect(unescapeUri(user)).toBe('null-\x00-null');
    },
  },
  {
    file: 'esc02.dat',
    section: '3.1.1.5',
    asks: 'percent signs outside URIs escape nothing: the method is not REGISTER, the header not Contact',
    said: ['accept RE%47IST%45R'],
    and: (message) => {
      expect(message.headers.all('contact')).toEqual([
        '<sip:alias1@host1.example.com>',
        '<sip:alias3@host3.example.com>',
      ]);
      expect(parseAddress(message.headers.get('to') ?? '')?.displayName).toBe('%Z%45');
    },
  },
  {
    file: 'lwsdisp.dat',
    section: '3.1.1.6',
    asks: 'no white space is needed between a display name and its bracket',
    said: ['accept OPTIONS'],
    and: (message) => {
      expect(parseAddress(message.headers.get('from') ?? '')?.displayName).toBe('caller');
    },
  },
  {
    file: 'longreq.dat',
    section: '3.1.1.7',
    asks: 'long values and many Via fields are legal',
    said: ['accept INVITE'],
    and: (message) => {
      expect(message.headers.all('via')).toHaveLength(34);
      expect(message.headers.get('call-id')).toHaveLength(141);
    },
  },
  {
    file: 'dblreq.dat',
    section: '3.1.1.8',
    asks: 'on a stream the second request is a message of its own; the octets after its Content-Length are no SIP',
    said: ['accept REGISTER', 'accept INVITE', 'cut (not SIP: the first line is not a SIP start line)'],
  },
  {
    file: 'semiuri.dat',
    section: '3.1.1.9',
    asks: 'semicolons and escapes before the @ belong to the user part',
    said: ['accept OPTIONS'],
    and: (message) => {
      if (message.kind !== 'request') return;
      expect(unescapeUri(parseUri(message.uri)?.user ?? '')).toBe('user;par=u@example.net');
    },
  },
  {
    file: 'transports.dat',
    section: '3.1.1.10',
    asks: 'any token is a transport in Via',
    said: ['accept OPTIONS'],
    and: (message) => {
      const transports = message.headers.all('via').map((via) => parseVia(via)?.transport);
      expect(transports).toEqual(['UDP', 'SCTP', 'TLS', 'UNKNOWN', 'TCP']);
    },
  },
  {
    file: 'mpart01.dat',
    section: '3.1.1.11',
    asks: 'a body is octets: NUL and line breaks in it change nothing',
    said: ['accept MESSAGE'],
    and: (message) => {
      expect(message.body.length).toBe(553);
      expect(message.body.includes(0)).toBe(true);
    },
  },
  {
    file: 'unreason.dat',
    section: '3.1.1.12',
    asks: 'a reason phrase may be UTF-8',
    said: ['accept 200'],
    and: (message) => {
      if (message.kind !== 'response') return;
      expect(Buffer.from(message.reason, 'latin1').toString('utf8')).toBe(
        '= 2**3 * 5**2 но сто девяносто девять - простое',
      );
    },
  },
  {
    file: 'noreason.dat',
    section: '3.1.1.13',
    asks: 'a reason phrase may be empty',
    said: ['accept 100'],
    and: (message) => expect(message).toMatchObject({ status: 100, reason: '' }),
  },
  {
    file: 'badinv01.dat',
    section: '3.1.2.1',
    asks: 'empty parameters and list elements in Via and Contact: 400',
    said: ['answer 400 Bad Via'],
  },
  {
    file: 'clerr.dat',
    section: '3.1.2.2',
    asks: 'more octets promised than sent: on a stream the rest may still come, until the time limit cuts',
    said: ['wait'],
  },
  {
    file: 'ncl.dat',
    section: '3.1.2.3',
    asks: 'a negative length leaves the end of the message unknown: 400, and the stream is useless afterwards',
    said: ['answer 400 Bad Content-Length, cut'],
  },
  {
    file: 'scalar02.dat',
    section: '3.1.2.4',
    asks: 'a CSeq number above 2^31 and Max-Forwards above 255: 400',
    said: ['answer 400 Bad CSeq'],
  },
  {
    file: 'scalarlg.dat',
    section: '3.1.2.5',
    asks: 'a response whose CSeq number is out of range is discarded',
    said: ['drop (Bad CSeq)'],
  },
  {
    file: 'quotbal.dat',
    section: '3.1.2.6',
    asks: 'a quoted string that never closes: 400',
    said: ['answer 400 Bad To'],
  },
  {
    file: 'ltgtruri.dat',
    section: '3.1.2.7',
    asks: 'angle brackets around the Request-URI: 400, and no repair by guessing',
    said: ['answer 400 Bad Request-URI'],
  },
  {
    file: 'lwsruri.dat',
    section: '3.1.2.8',
    asks: 'white space in the Request-URI: 400',
    said: ['answer 400 Malformed Request Line'],
  },
  {
    file: 'lwsstart.dat',
    section: '3.1.2.9',
    asks: 'more than one space between the parts of the request line: 400 (to be liberal is allowed, not needed)',
    said: ['answer 400 Malformed Request Line'],
  },
  {
    file: 'trws.dat',
    section: '3.1.2.10',
    asks: 'white space at the end of the request line: 400 (to be liberal is allowed, not needed)',
    said: ['answer 400 Malformed Request Line'],
  },
  {
    file: 'escruri.dat',
    section: '3.1.2.11',
    asks: 'headers in the Request-URI: 400',
    said: ['answer 400 Headers in Request-URI'],
  },
  {
    file: 'baddate.dat',
    section: '3.1.2.12',
    asks: 'a Date outside GMT may be rejected or ignored; nothing here depends on Date, so it is ignored',
    said: ['accept INVITE'],
  },
  {
    file: 'regbadct.dat',
    section: '3.1.2.13',
    asks: 'a Contact URI with ? needs angle brackets: 400',
    said: ['answer 400 Bad Contact'],
  },
  {
    file: 'badaspec.dat',
    section: '3.1.2.14',
    asks: 'white space inside the angle brackets of To: 400',
    said: ['answer 400 Bad To'],
  },
  {
    file: 'baddn.dat',
    section: '3.1.2.15',
    asks: 'a display name with a comma needs quotes: 400',
    completedBy: { octets: '\r\n', because: 'the file lacks the empty line that ends the head' },
    said: ['answer 400 Bad From'],
  },
  {
    file: 'badvers.dat',
    section: '3.1.2.16',
    asks: 'an unknown version: 505',
    said: ['answer 505 Version Not Supported'],
  },
  {
    file: 'mismatch01.dat',
    section: '3.1.2.17',
    asks: 'CSeq names another method than the request line: 400',
    said: ['answer 400 CSeq Method Mismatch'],
  },
  {
    file: 'mismatch02.dat',
    section: '3.1.2.18',
    asks: 'the same with an unknown method: 400 or 501, and 400 is found first',
    said: ['answer 400 CSeq Method Mismatch'],
  },
  {
    file: 'bigcode.dat',
    section: '3.1.2.19',
    asks: 'a status code that overflows is no 1xx: the response is discarded',
    said: ['drop (Bad Status Code)'],
  },
  {
    file: 'badbranch.dat',
    section: '3.2.1',
    asks: 'a branch of the cookie alone is not unique: legal, and matched like RFC 2543',
    said: ['accept OPTIONS'],
    and: (message) => {
      expect(isMagicBranch(parseVia(message.headers.get('via') ?? '')?.branch)).toBe(false);
    },
  },
  {
    file: 'insuf.dat',
    section: '3.3.1',
    asks: 'From, To and Call-ID are missing: 400, if an answer can be made',
    said: ['answer 400 Missing From'],
  },
  {
    file: 'unkscm.dat',
    section: '3.3.2',
    asks: 'a Request-URI of an unknown scheme: 416',
    said: ['answer 416 Unsupported URI Scheme'],
  },
  {
    file: 'novelsc.dat',
    section: '3.3.3',
    asks: 'a known scheme that is not for SIP requests: 416',
    said: ['answer 416 Unsupported URI Scheme'],
  },
  {
    file: 'unksm2.dat',
    section: '3.3.4',
    asks: 'URIs of any scheme are legal in To, From and Contact; only a registrar minds (here REGISTER gets 405)',
    said: ['accept REGISTER'],
  },
  {
    file: 'bext01.dat',
    section: '3.3.5',
    asks: 'unknown Require: 420 with the list in Unsupported, Proxy-Require left to proxies',
    said: ['accept OPTIONS'],
    and: (message) => {
      if (message.kind !== 'request') return;
      expect(unsupportedOptions(message, new Set(['timer']))).toEqual([
        'nothingSupportsThis',
        'nothingSupportsThisEither',
      ]);
    },
  },
  {
    file: 'invut.dat',
    section: '3.3.6',
    asks: 'an unknown body type is a valid message; the call is refused with 415 by who reads bodies',
    said: ['accept INVITE'],
  },
  {
    file: 'regaut01.dat',
    section: '3.3.7',
    asks: 'an unknown authentication scheme is a valid message; a registrar challenges it',
    said: ['accept REGISTER'],
  },
  {
    file: 'multi01.dat',
    section: '3.3.8',
    asks: 'several values of headers that have one: 400',
    said: ['answer 400 More Than One CSeq'],
  },
  {
    file: 'mcl01.dat',
    section: '3.3.9',
    asks: 'two lengths that differ: 400, and the end of the message is unknown',
    said: ['answer 400 Contradicting Content-Length, cut'],
  },
  {
    file: 'bcast.dat',
    section: '3.3.10',
    asks: 'a response with more than one Via is not for a user agent: discarded, never sent on',
    said: ['drop (More Than One Via)'],
  },
  {
    file: 'zeromf.dat',
    section: '3.3.11',
    asks: 'Max-Forwards 0 matters to proxies; an endpoint goes on as if it were positive',
    said: ['accept OPTIONS'],
  },
  {
    file: 'cparam01.dat',
    section: '3.3.12',
    asks: 'without brackets an unknown parameter belongs to Contact',
    said: ['accept REGISTER'],
    and: (message) => {
      expect(parseAddress(message.headers.get('contact') ?? '')).toEqual({
        displayName: undefined,
        uri: 'sip:+19725552222@gw1.example.net',
        params: new Map([['unknownparam', null]]),
      });
    },
  },
  {
    file: 'cparam02.dat',
    section: '3.3.13',
    asks: 'inside brackets it belongs to the URI',
    said: ['accept REGISTER'],
    and: (message) => {
      const contact = parseAddress(message.headers.get('contact') ?? '');
      expect(contact?.uri).toBe('sip:+19725552222@gw1.example.net;unknownparam');
      expect(contact?.params.size).toBe(0);
    },
  },
  {
    file: 'regescrt.dat',
    section: '3.3.14',
    asks: 'a Contact URI may hold an escaped Route header',
    said: ['accept REGISTER'],
    and: (message) => {
      const uri = parseUri(parseAddress(message.headers.get('contact') ?? '')?.uri ?? '');
      expect(uri?.headers.get('route')).toBe('%3Csip:sip.example.com%3E');
    },
  },
  {
    file: 'sdp01.dat',
    section: '3.3.15',
    asks: 'Accept of an unknown type is a valid message; 406 is up to who answers with a body',
    said: ['accept INVITE'],
  },
  {
    file: 'inv2543.dat',
    section: '3.4.1',
    asks: 'legal in RFC 2543 over UDP; on a stream the missing Content-Length hides the end (RFC 3261 18.3): 400',
    said: ['answer 400 Missing Content-Length, cut'],
  },
];
