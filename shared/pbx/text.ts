/** The configuration of a PBX as text, for the systems that discovery recognizes. */
import { asterisk } from './asterisk.ts';
import { audiocodes } from './audiocodes.ts';
import { baresip } from './baresip.ts';
import { cube } from './cube.ts';
import type { PbxFacts, PbxFile } from './facts.ts';
import { freeswitch } from './freeswitch.ts';
import { kamailio } from './kamailio.ts';
import { opensips } from './opensips.ts';
import { ribbon } from './ribbon.ts';
import { threeCx } from './three-cx.ts';

interface Writer {
  /** As discovery names them; what is built on the first one is configured as it is. */
  readonly systems: readonly [string, ...string[]];
  readonly write: (facts: PbxFacts) => readonly PbxFile[];
}

const writers: readonly Writer[] = [
  { systems: ['Asterisk', 'FreePBX', 'Issabel', 'Sangoma'], write: asterisk },
  { systems: ['FreeSWITCH', 'FusionPBX', 'SignalWire'], write: freeswitch },
  { systems: ['Kamailio'], write: kamailio },
  { systems: ['OpenSIPS'], write: opensips },
  { systems: ['baresip'], write: baresip },
  { systems: ['Cisco CUBE'], write: cube },
  { systems: ['AudioCodes'], write: audiocodes },
  { systems: ['Ribbon', 'Ribbon (Sonus)'], write: ribbon },
  { systems: ['3CX'], write: threeCx },
];

/** Systems that there is text for: the first name of each kind. */
export const knownSystems = writers.map(({ systems: [first] }) => first);

/** As `?pbx=` takes it. @param system as discovery names it, in any case */
export const pbxName = (system: string): string =>
  system.toLowerCase().replaceAll(/[()]/g, '').replaceAll(' ', '-');

/** All of their names, as `?pbx=` takes them. */
export const pbxNames = writers.flatMap(({ systems }) => systems.map(pbxName));

/** @param system as discovery or `?pbx=` names it @returns null when there is no text for it */
export function pbxFiles(system: string, facts: PbxFacts): readonly PbxFile[] | null {
  const found = writers.find(({ systems }) => systems.some((one) => pbxName(one) === pbxName(system)));
  return found ? found.write(facts) : null;
}
