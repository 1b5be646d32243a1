/** The choices of a select: what has an id and a name. */
export function NamedOptions({ of }: { of: readonly { readonly id: string; readonly name: string }[] }) {
  return of.map(({ id, name }) => (
    <option key={id} value={id}>
      {name}
    </option>
  ));
}
