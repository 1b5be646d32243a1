/** The commands of the command line. */
export { type Command, type Options, type Output, optionKinds, UsageError } from './command.ts';
export { edgeCommands } from './edges.ts';
export { keyCommands } from './keys.ts';
export { organizationCommands } from './organizations.ts';
export { portCommands } from './ports.ts';
