/** Why something did not work, for a finding. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // fetch says what happened in the cause alone.
  const { message, cause } = error;
  return cause instanceof Error && message === 'fetch failed' ? cause.message || codeOf(cause) : message;
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.name;
}
