/** Contract 9.4: only the service sets these. */
const builtInNames = [
  'now',
  'now_utc',
  'short_from',
  'short_to',
  'from',
  'to',
  'call_id',
  'phone_number',
  'from_number',
  'country',
  'input',
] as const;

const reserved: ReadonlySet<string> = new Set(builtInNames);

export function isBuiltIn(name: string): boolean {
  return reserved.has(name);
}
