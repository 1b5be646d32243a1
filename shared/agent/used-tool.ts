/** The line of a call's record that says which tool its agent uses. */
export function usesTool(name: string): string {
  return `Uses the tool ${name}`;
}
