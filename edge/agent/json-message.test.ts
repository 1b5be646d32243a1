import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parsedMessage } from './json-message.ts';

describe('a message of a server', () => {
  it('has no members that are null, at any depth', () => {
    const text = '{"a":null,"b":{"c":null,"d":0},"e":[{"f":null,"g":""},[{"h":null}],null]}';
    expect(parsedMessage(text)).toEqual({ b: { d: 0 }, e: [{ g: '' }, [{}], null] });
  });

  it.each(['args', 'parameters'])('keeps all arguments of a tool: %s', (name) => {
    const call = { id: '1', [name]: { reason: null, more: { from: null } } };
    expect(parsedMessage(JSON.stringify({ call, x: null }))).toEqual({ call });
  });

  it('may have any depth', () => {
    const deep = 100_000;
    const message = parsedMessage(`${'{"a":'.repeat(deep)}null${'}'.repeat(deep)}`);
    expect(message).toHaveProperty(['a', 'a', 'a']);
  });

  it('is undefined when the text is no JSON, and may be null', () => {
    expect([parsedMessage('{'), parsedMessage('null'), parsedMessage('1')]).toEqual([undefined, null, 1]);
  });
});

it('is checked by shapes in the threads of calls: TypeBox takes several times as long, which a server that floods its messages uses', () => {
  const edge = join(import.meta.dirname, '..');
  const files = ['agent', 'media', 'shards'].flatMap((folder) =>
    readdirSync(join(edge, folder), { recursive: true, encoding: 'utf8' })
      // Callers of tests talk to control.
      .filter((name) => /(?<!\.test)\.ts$/.test(name) && !name.startsWith('test-caller'))
      .map((name) => join(edge, folder, name)),
  );
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => /from 'typebox/.test(readFileSync(file, 'utf8')))).toEqual([]);
});
