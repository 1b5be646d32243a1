/** `1 file`, `2 files`. @param plural if it is not the singular plus s */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}
