/** The line of a call's record that says which tool its agent uses. Edges write it, and watches read it. */
const beginning = 'Uses the tool ';

export function usesTool(name: string): string {
  return `${beginning}${name}`;
}

/** The tool's name; null: the line says something else. */
export function usedTool(line: string): string | null {
  return line.startsWith(beginning) ? line.slice(beginning.length) : null;
}
