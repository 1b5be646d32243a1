/**
 * Runs every step in order, also after a failing one, so that a test file releases all its resources.
 * @throws Error the only failure, or an AggregateError of all
 */
export async function releaseAll(...steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('\n'));
}
