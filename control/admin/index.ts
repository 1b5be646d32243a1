/** The commands of the command line. */
export { type Command, type Options, type Output, optionKinds, UsageError } from './command.ts';
export { allCommands, commandsOf } from './commands.ts';
