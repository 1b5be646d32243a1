import { describe, expect, it } from 'vitest';
import { contactOf, headerOf, reasonOf, tagOf, tokensOf, unsupportedTags, warningOf } from './headers.ts';
import { warningText } from './refusal.ts';

describe('headers', () => {
  it('are found by name, in any case, and by compact form', () => {
    expect(headerOf({ 'X-Custom': '1' }, 'x-custom')).toBe('1');
    expect(headerOf({ x: '1800' }, 'session-expires')).toBe('1800');
    expect(headerOf({ require: 'timer' }, 'require')).toBe('timer');
    expect(headerOf({}, 'constructor')).toBeUndefined();
  });

  it('split comma lists', () => {
    expect(tokensOf(' Timer,100rel ,, ')).toEqual(['timer', '100rel']);
    expect(tokensOf('foo\r\n ,bar\r\nInjected: yes')).toEqual(['foo', 'bar', 'injected:', 'yes']);
    expect(tokensOf(undefined)).toEqual([]);
  });

  it('report the unsupported option tags of Require', () => {
    expect(unsupportedTags('timer, Replaces, join, 100rel,foo')).toEqual(['join', 'foo']);
    expect(unsupportedTags(undefined)).toEqual([]);
  });

  it('quote texts safely', () => {
    expect(warningOf('edge.example', 'no "crypto"\r\nline')).toBe(`399 edge.example "no 'crypto' line"`);
    expect(reasonOf(200, 'bye')).toBe('SIP;cause=200;text="bye"');
  });
});

describe('our Contact', () => {
  it.each([
    ['sip:1@e', {}, '<sip:edge:5061;transport=tls>'],
    ['sips:1@e', {}, '<sips:edge:5061>'],
    ['sip:1@e', { contact: '<sips:a@b>' }, '<sips:edge:5061>'],
    [
      'sip:1@e',
      { contact: '<sips:a@b>', 'record-route': '<sip:p;lr>,<sips:q;lr>' },
      '<sip:edge:5061;transport=tls>',
    ],
    ['sip:1@e', { contact: '<sip:a@b>', 'record-route': '<sips:p;lr>' }, '<sips:edge:5061>'],
  ])('for %s with %o is %s', (uri, headers, contact) => {
    expect(contactOf('edge:5061', uri, headers)).toBe(contact);
  });
});

describe('the tag of an address', () => {
  it.each([
    ['<sip:a@b>;tag=1', '1'],
    ['"x;tag=0" <sip:a@b;tag=2>;x=y;TAG = 3', '3'],
    ['sip:a@b;tag=4', '4'],
    ['<sip:a@b;tag=5>', ''],
    ['<sip:a@b>;x=<;tag=6', '6'],
    ['sip:a@b;x="q;tag=0>";tag=7;y=>', '7'],
    ['B <sip:a@b>;x=<;lr ; tag = 8 ;tag=9', '8'],
    ['', ''],
  ])('%s is "%s"', (value, tag) => {
    expect(tagOf(value)).toBe(tag);
  });
});

describe('a Warning', () => {
  it.each([
    ['399 edge "no route"', 'no route'],
    ['399 a:5061 "say \\"x\\"", 307 b "y"', 'say "x"'],
    ['399 edge no quotes', null],
    ['', null],
  ])('%s says %s', (warning, text) => {
    expect(warningText({ warning })).toBe(text);
  });

  it('is empty when the header is missing', () => {
    expect(warningText({})).toBeNull();
  });
});
