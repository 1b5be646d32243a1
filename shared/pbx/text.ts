/** The configuration of a PBX as text, for the systems that discovery recognizes. */
import { asterisk } from './asterisk.ts';
import { baresip } from './baresip.ts';
import type { PbxFacts, PbxFile } from './facts.ts';
import { freeswitch } from './freeswitch.ts';
import { kamailio } from './kamailio.ts';

interface Writer {
  /** As discovery names them; what is built on the first one is configured as it is. */
  readonly systems: readonly [string, ...string[]];
  readonly write: (facts: PbxFacts) => readonly PbxFile[];
}

const writers: readonly Writer[] = [
  { systems: ['Asterisk', 'FreePBX', 'Issabel', 'Sangoma'], write: asterisk },
  { systems: ['FreeSWITCH', 'FusionPBX', 'SignalWire'], write: freeswitch },
  { systems: ['Kamailio'], write: kamailio },
  { systems: ['baresip'], write: baresip },
];

/** Systems that there is text for: the first name of each kind. */
export const knownSystems = writers.map(({ systems: [first] }) => first);

/** All of their names, as `?pbx=` takes them. */
export const pbxNames = writers.flatMap(({ systems }) => systems.map((one) => one.toLowerCase()));

/** @param system as discovery names it, in any case @returns null when there is no text for it */
export function pbxFiles(system: string, facts: PbxFacts): readonly PbxFile[] | null {
  const asked = system.toLowerCase();
  const found = writers.find(({ systems }) => systems.some((one) => one.toLowerCase() === asked));
  return found ? found.write(facts) : null;
}
