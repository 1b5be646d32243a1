/**
 * What edge and embedded engine tell each other while the engine runs: one JSON object per line. Commands go to its
 * standard input, events come from its standard output.
 */
import {
  integer,
  listOf,
  number,
  objectOf,
  oneOf,
  orNull,
  positive,
  recordOf,
  type Shape,
  type Shaped,
  text,
} from '../shapes.ts';
import { address } from './configuration.ts';

/** Addresses and CIDR blocks by the organization whose configuration names them. */
const sourcesByOwner = recordOf(listOf(text));
export type SourcesByOwner = Shaped<typeof sourcesByOwner>;

const engineCommands = {
  /** Closes all connections and exits, as the end of the input does. */
  stop: objectOf({}),
  /** Reads the certificate files again. */
  'reload-certificates': objectOf({}),
  /** Sets the keys of TLS session tickets (`ticketKeys` of the configuration); sessions under former ones end. */
  'ticket-keys': objectOf({ keys: text }),
  /** Closes all inbound connections of an address and rejects new ones for this long. */
  block: objectOf({ address: text, seconds: positive }),
  /** Sets the sources for which connections are reserved. All other sources share a part of the room. */
  sources: objectOf({ sources: sourcesByOwner }),
  /** Sets the private networks that peers may use in Contact or Record-Route: addresses and CIDR blocks. */
  'allowed-targets': objectOf({ networks: listOf(text) }),
  /** Ends dialogs that no call owns; unknown ids are ignored. */
  'end-dialogs': objectOf({ ids: listOf(text) }),
};

const engineEvents = {
  /** All listeners are open; `app` is where applications connect. */
  ready: objectOf({ tls: address, wss: orNull(address), app: address }),
  /** A log line; further fields are its data. */
  log: objectOf({ level: oneOf('info', 'warn', 'error'), message: text }, {}, true),
  /** Requests that the engine rejected itself: their number by source address. */
  refusals: objectOf({ sources: recordOf(integer()) }),
  /** The ids of all dialogs, every ten seconds. */
  dialogs: objectOf({ ids: listOf(text) }),
  /** Counters and gauges by name, every ten seconds. Prometheus names them `trunkline_engine_<name>`. */
  metrics: objectOf({ metrics: recordOf(number) }),
};

/** One variant for each name of a table of bodies. */
type Named<Key extends string, Bodies extends Record<string, Shape<unknown>>> = {
  [Name in keyof Bodies & string]: { readonly [K in Key]: Name } & Shaped<Bodies[Name]>;
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

function read(
  key: 'command' | 'event',
  bodies: Readonly<Record<string, Shape<unknown>>>,
  line: string,
): unknown {
  const shown = line.slice(0, 80);
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new UnusableLine(`${key} ${shown}: not JSON`);
  }
  if (typeof value !== 'object' || value === null) throw new UnusableLine(`${key} ${shown}: not an object`);
  const { [key]: name, ...body } = value as Record<string, unknown>;
  const shape = typeof name === 'string' && Object.hasOwn(bodies, name) ? bodies[name] : undefined;
  if (!shape) throw new UnusableLine(`${key} ${typeof name === 'string' ? name : shown}: unknown ${key}`);
  const fault = shape.fault(body);
  if (fault === null) return value;
  throw new UnusableLine(`${key} ${name}: ${fault.at || '/'} ${fault.what}`);
}
