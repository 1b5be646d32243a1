import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type EngineCommand, type EngineEvent, lineOf, readCommand, readEvent } from './lines.ts';

const address = { host: '127.0.0.1', port: 5061 };

describe('the lines between edge and engine', () => {
  it.each<EngineCommand>([
    { command: 'stop' },
    { command: 'reload-certificates' },
    { command: 'block', address: '192.0.2.1', seconds: 60 },
    { command: 'sources', sources: { org: ['192.0.2.0/24', '2001:db8::1'] } },
    { command: 'allowed-targets', networks: ['10.0.0.0/8'] },
    { command: 'end-dialogs', ids: ['a;from-tag=b'] },
  ])('carry the command $command', (command) => {
    expect(readCommand(lineOf(command))).toEqual(command);
  });

  it.each<EngineEvent>([
    { event: 'ready', tls: address, wss: null, app: address },
    { event: 'log', level: 'warn', message: 'connection cut' },
    { event: 'refusals', sources: { '192.0.2.1': 3 } },
    { event: 'dialogs', ids: [] },
    { event: 'metrics', metrics: { dialogs: 0 } },
  ])('carry the event $event', (event) => {
    expect(readEvent(lineOf(event))).toEqual(event);
  });

  it('carry the data of a log line', () => {
    const line = '{"event":"log","level":"info","message":"m","remoteAddress":"192.0.2.1"}';
    expect(readEvent(line)).toMatchObject({ remoteAddress: '192.0.2.1' });
  });

  it.each([
    ['nonsense', 'command nonsense: not JSON'],
    ['null', 'command null: not an object'],
    ['[]', 'command []: unknown command'],
    ['{}', 'command {}: unknown command'],
    ['{"command":"toString"}', 'command toString: unknown command'],
    ['{"command":"sources","sources":[1]}', 'command sources: /sources must be object'],
    ['{"command":"sources","sources":{"a":["b",1]}}', 'command sources: /sources/a/1 must be string'],
    ['{"command":"block","address":"192.0.2.1","seconds":-1}', 'command block: /seconds must be > 0'],
    ['{"command":"block"}', 'command block: / must have required properties address, seconds'],
  ])('are rejected with the cause: %s', (line, problem) => {
    expect(() => readCommand(line)).toThrow(problem);
  });

  it('are rejected with the cause when an event is wrong', () => {
    expect(() => readEvent('{"event":"metrics","metrics":{"dialogs":"many"}}')).toThrow(
      'event metrics: /metrics/dialogs must be number',
    );
  });
});

it('only the protocol names the header fields of its own', () => {
  const root = join(import.meta.dirname, '..', '..', 'edge');
  const naming = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => /['"]x-trunkline-(?!test')/i.test(readFileSync(join(root, file), 'utf8')));
  expect(naming).toEqual([]);
});
