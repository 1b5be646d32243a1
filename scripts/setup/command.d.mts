export interface CommandOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  onLine?: (line: string) => void;
}
export interface CommandResult {
  code: number;
  stdout: string;
  output: string;
}
export function command(
  program: string,
  args: readonly string[],
  options?: CommandOptions,
): Promise<CommandResult>;
