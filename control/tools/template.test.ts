import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { referencesIn } from '#shared/agent/template.ts';
import { anyCharacter } from '../../test/kit/any-character.ts';
import {
  inputOf,
  type JsonValue,
  parseTemplate,
  Renderer,
  TemplateError,
  templatedName,
} from './template.ts';

const scope = {
  inputs: { n: 5, text: 'say "hi"\n', flag: false, none: null, deep: { list: [{ id: 'x' }] } },
  variables: { input: 'what was said', name: 'Ann', order: { id: 7 } },
};
const render = (tree: JsonValue, absent: 'null' | 'omit' = 'null') => new Renderer(scope).tree(tree, absent);

describe('a template', () => {
  it('keeps the type of a value that is the whole string', () => {
    expect(
      render(['{{input.n}}', '{{ input.flag }}', '{{input.none}}', '{{input.deep}}', '{{order.id}}']),
    ).toEqual([5, false, null, { list: [{ id: 'x' }] }, 7]);
  });

  it('inserts values as text inside longer text', () => {
    expect(render('n={{input.n}}, {{input.text}} {{input.deep.list.0.id}} {{input.deep.list[0]}}')).toBe(
      'n=5, say "hi"\n x {"id":"x"}',
    );
  });

  it('gives empty text for unset variables, and null for omitted inputs or leaves them out', () => {
    expect(render({ a: '{{nobody}}', b: '<{{nobody}}>', c: '{{input.x}}', d: '<{{input.x}}>' })).toEqual({
      a: '',
      b: '<>',
      c: null,
      d: '<>',
    });
    expect(render({ c: '{{input.x}}', d: ['{{input.x}}'], e: 1 }, 'omit')).toEqual({ d: [null], e: 1 });
  });

  it('accesses own members only', () => {
    expect(render(['{{input.constructor.name}}', '{{name.length}}', '{{__proto__.x}}'])).toEqual([
      null,
      '',
      '',
    ]);
  });

  it('distinguishes inputs of the tool from the variable `input`', () => {
    expect(render('{{input}}')).toBe('what was said');
    expect(
      ['input.a', 'input.a.b[0]', "input['a b'].c", 'input', 'inputs.a', 'input[0]'].map(inputOf),
    ).toEqual(['a', 'a', 'a b', null, null, null]);
  });

  it('does not expand templates in inserted values', () => {
    const renderer = new Renderer({ inputs: { a: '{{secret}}' }, variables: { secret: 's' } });
    expect(renderer.tree(['{{input.a}}', '<{{input.a}}>'])).toEqual(['{{secret}}', '<{{secret}}>']);
  });

  it('fails when its values grow too large', () => {
    const renderer = new Renderer({ inputs: { a: 'x'.repeat(60_000) }, variables: {} });
    expect(() => renderer.tree(Array(20).fill('{{input.a}}'))).toThrow(TemplateError);
  });

  it('lists its references, and property names that look like some', () => {
    expect(referencesIn('{{a}} {{ b.c }} {{}} {d}')).toEqual(['a', 'b.c']);
    expect(templatedName({ a: [{ 'b{{c}}': 1 }] }, '/body')).toBe('/body/a/0/b{{c}}');
  });
});

describe('JSON text', () => {
  it('is parsed with references in place of values', () => {
    expect(parseTemplate('{"a": {{input.n}}, "b": "{{input.text}}", "c": ["\\"{{x}}", {{ y }} ]}')).toEqual({
      a: '{{input.n}}',
      b: '{{input.text}}',
      c: ['"{{x}}', '{{ y }}'],
    });
    expect(parseTemplate('not {{json}}')).toBeUndefined();
  });
});

const text = fc.string({ unit: anyCharacter, maxLength: 40 });
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(
      text,
      fc.constantFrom('"', '\\', '","admin":true,"x":"', '{{input.a}}', '}}', '{{'),
      fc.integer(),
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
}));

/** Names of all properties of the template itself, with a constant for each value. */
function skeleton(tree: JsonValue): unknown {
  if (Array.isArray(tree)) return tree.map(skeleton);
  if (typeof tree !== 'object' || tree === null) return 0;
  return Object.entries(tree).map(([name, part]) => [name, skeleton(part)]);
}

describe('for any values', () => {
  it('a rendered text body is JSON of the template’s own form, with the same string boundaries', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const template = '{"one":"<{{input.a}}>","two":{"three":[{{input.b}},"{{v}}|{{input.b}}"]},"last":1}';
        const renderer = new Renderer({ inputs: { a, b }, variables: { v: a } });
        const tree = parseTemplate(template);
        const rendered = JSON.parse(JSON.stringify(renderer.tree(tree ?? null)));
        expect(Object.keys(rendered)).toEqual(['one', 'two', 'last']);
        expect(Object.keys(rendered.two)).toEqual(['three']);
        expect(rendered.two.three).toHaveLength(2);
        expect(rendered.two.three[0]).toEqual(JSON.parse(JSON.stringify(b ?? null)));
        const plain = typeof a === 'string' ? a : JSON.stringify(a);
        expect(rendered.one).toBe(`<${plain}>`);
        expect(rendered.last).toBe(1);
      }),
    );
  });

  it('a tree without exact references keeps its form', () => {
    const template: JsonValue = { a: 'x{{input.a}}', b: { c: ['{{input.a}}y', { d: ' {{v}}' }], e: true } };
    fc.assert(
      fc.property(value, (a) => {
        const renderer = new Renderer({ inputs: { a }, variables: { v: a } });
        expect(skeleton(renderer.tree(template))).toEqual(skeleton(template));
      }),
    );
  });
});
