/** `1 file`, `2 files`. @param plural where it is not the singular with an s */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}
