/**
 * What edge and embedded engine tell each other while the engine runs: one JSON object per line. Commands go to its
 * standard input, events come from its standard output.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { Address } from './configuration.ts';

const closed = { additionalProperties: false };

/** Addresses and CIDR blocks by the organization whose configuration names them. */
const SourcesByOwnerSchema = Type.Record(Type.String(), Type.Array(Type.String()));
export type SourcesByOwner = Readonly<Record<string, readonly string[]>>;

const engineCommands = {
  /** Closes all connections and exits, as the end of the input does. */
  stop: Type.Object({}, closed),
  /** Reads the certificate files again. */
  'reload-certificates': Type.Object({}, closed),
  /** Closes all inbound connections of an address and rejects new ones for this long. */
  block: Type.Object({ address: Type.String(), seconds: Type.Number({ exclusiveMinimum: 0 }) }, closed),
  /** Sets the sources for which connections are reserved. All other sources share a part of the room. */
  sources: Type.Object({ sources: SourcesByOwnerSchema }, closed),
  /** Sets the private networks that peers may use in Contact or Record-Route: addresses and CIDR blocks. */
  'allowed-targets': Type.Object({ networks: Type.Array(Type.String()) }, closed),
  /** Ends dialogs that no call owns; unknown ids are ignored. */
  'end-dialogs': Type.Object({ ids: Type.Array(Type.String()) }, closed),
};

const engineEvents = {
  /** All listeners are open; `app` is where applications connect. */
  ready: Type.Object({ tls: Address, wss: Type.Union([Type.Null(), Address]), app: Address }, closed),
  /** A log line; further fields are its data. */
  log: Type.Object({
    level: Type.Union([Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')]),
    message: Type.String(),
  }),
  /** Requests that the engine rejected itself: their number by source address. */
  refusals: Type.Object({ sources: Type.Record(Type.String(), Type.Integer()) }, closed),
  /** The ids of all dialogs, every ten seconds. */
  dialogs: Type.Object({ ids: Type.Array(Type.String()) }, closed),
  /** Counters and gauges by name, every ten seconds. Prometheus names them `trunkline_engine_<name>`. */
  metrics: Type.Object({ metrics: Type.Record(Type.String(), Type.Number()) }, closed),
};

type Unchangeable<T> = T extends object ? { readonly [K in keyof T]: Unchangeable<T[K]> } : T;

/** One variant for each name of a table of bodies. */
type Named<Key extends string, Bodies extends Record<string, TSchema>> = {
  [Name in keyof Bodies & string]: { readonly [K in Key]: Name } & Unchangeable<Static<Bodies[Name]>>;
}[keyof Bodies & string];

export type EngineCommand = Named<'command', typeof engineCommands>;
export type EngineEvent = Named<'event', typeof engineEvents>;

/** A line that is not a command or event; the message says what is wrong with it. */
export class UnusableLine extends Error {
  override readonly name = 'UnusableLine';
}

/** @throws UnusableLine */
export function readCommand(line: string): EngineCommand {
  return read('command', engineCommands, line) as EngineCommand;
}

/** @throws UnusableLine */
export function readEvent(line: string): EngineEvent {
  return read('event', engineEvents, line) as EngineEvent;
}

/** The line to write, with its line break. */
export function lineOf(message: EngineCommand | EngineEvent): string {
  return `${JSON.stringify(message)}\n`;
}

function read(key: 'command' | 'event', bodies: Readonly<Record<string, TSchema>>, line: string): unknown {
  const shown = line.slice(0, 80);
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new UnusableLine(`${key} ${shown}: not JSON`);
  }
  if (typeof value !== 'object' || value === null) throw new UnusableLine(`${key} ${shown}: not an object`);
  const { [key]: name, ...body } = value as Record<string, unknown>;
  const schema = typeof name === 'string' && Object.hasOwn(bodies, name) ? bodies[name] : undefined;
  if (!schema) throw new UnusableLine(`${key} ${typeof name === 'string' ? name : shown}: unknown ${key}`);
  if (Value.Check(schema, body)) return value;
  const [error] = Value.Errors(schema, body);
  throw new UnusableLine(`${key} ${name}: ${error?.instancePath || '/'} ${error?.message ?? 'is wrong'}`);
}
