import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../test/kit/any-character.ts';
import { Renderer, TemplateError } from './template.ts';
import { isUnder, readUrlTemplate, renderUrl } from './url-template.ts';

const base = new URL('https://api.example.com/v1/');
const render = (template: string, inputs: Record<string, unknown>, under: URL | null = base) => {
  const read = readUrlTemplate(template);
  if ('problem' in read) throw new Error(read.problem);
  return renderUrl(read, under, new Renderer({ inputs, variables: {} }));
};

describe('a URL template', () => {
  it('encodes its values anywhere', () => {
    expect(render('https://a.example/o/{{input.a}}?q={{input.b}}', { a: 'x/y?z#', b: 'a&b=c' }).href).toBe(
      'https://a.example/o/x%2Fy%3Fz%23?q=a%26b%3Dc',
    );
    expect(render('/orders/{{input.a}}', { a: 5 }).href).toBe('https://api.example.com/v1/orders/5');
    expect(render('//evil.example/x', {}).href).toBe('https://api.example.com/v1//evil.example/x');
  });

  it.each(['..', '.', '%2e%2e'])('rejects %j as a segment of the path', (a) => {
    expect(() => render(`/orders/${a}/x`, {})).toThrow(TemplateError);
    if (!a.includes('%')) expect(() => render('/orders/{{input.a}}/x', { a })).toThrow(TemplateError);
  });

  it('needs a base for a path', () => {
    expect(() => render('/orders', {}, null)).toThrow('the tool has no resource with a base_url');
  });

  it.each([
    'https://a.example\\@b.example/',
    'https://a@b.example/',
    'https:a.example',
    'https://',
    'https:///x',
    'javascript:alert(1)',
    'orders/1',
    '',
    '{{input.a}}',
    'https://a.example{{input.a}}',
    'https://[::1',
    'https://a b.example/',
  ])('rejects %j', (url) => {
    expect(readUrlTemplate(url)).toEqual({ problem: expect.any(String) });
  });

  it('leads to its own host and folder, for any values', () => {
    const templates = [
      'https://a.example:8443/x/{{input.a}}/y?z={{input.b}}#{{input.a}}',
      'https://a.example:8443?{{input.a}}',
      'https://a.example:8443/{{input.a}}{{input.b}}',
    ];
    const any = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom(
        '@evil.example',
        '..',
        './',
        '/..',
        '\\',
        '//evil.example',
        ':80',
        '\ud800',
        '%2e%2e',
        '',
      ),
    );
    fc.assert(
      fc.property(fc.constantFrom(...templates), any, any, (template, a, b) => {
        try {
          const url = render(template, { a, b });
          expect(url.origin).toBe('https://a.example:8443');
          expect(url.username + url.password).toBe('');
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
        }
        try {
          const under = render('/{{input.a}}/x{{input.b}}', { a, b });
          expect(isUnder(under, base)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('URLs under a base URL', () => {
  it.each([
    ['https://api.example.com/v1', true],
    ['https://api.example.com/v1/x', true],
    ['https://api.example.com/v1x', false],
    ['https://api.example.com/', false],
    ['http://api.example.com/v1/x', false],
    ['https://api.example.com:444/v1/x', false],
    ['https://other.example.com/v1/x', false],
  ])('%s: %s', (url, expected) => {
    expect(isUnder(new URL(url), base)).toBe(expected);
  });
});
