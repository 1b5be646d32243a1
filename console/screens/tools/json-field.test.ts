import { describe, expect, it } from 'vitest';
import { exampleInputs, objectOf, valuesOf, written } from './json-field.ts';

describe('JSON in a field of a tool', () => {
  it('is null when the field is empty', () => {
    expect(objectOf('Inputs', '')).toBeNull();
    expect(valuesOf('Values', '')).toBeNull();
  });

  it('names the field that is wrong', () => {
    expect(() => objectOf('Inputs', '{"a":')).toThrow(/^Inputs: this is not JSON: /);
    expect(() => objectOf('Inputs', '[1]')).toThrow('Inputs: must be a JSON object');
    expect(() => valuesOf('Values', '[{"name":"a"}]')).toThrow(/^Values: must be a list/);
  });

  it('comes back as it was written', () => {
    const values = [{ name: 'status', data: '$.order.status' }];
    expect(valuesOf('Values', written(values))).toEqual(values);
    expect(written('{{input.order}}')).toBe('{{input.order}}');
  });

  it('is filled in for a try-out with a value of the type of each input', () => {
    const properties = { order: { type: 'string' }, count: { type: 'integer' }, size: { enum: ['s', 'm'] } };
    expect(JSON.parse(exampleInputs({ type: 'object', properties }))).toEqual({
      order: '',
      count: 0,
      size: 's',
    });
    expect(exampleInputs(null)).toBe('{}');
  });
});
