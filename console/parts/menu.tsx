/** A menu that a button opens: Escape closes it, and so does going elsewhere by keyboard. */
import type { ComponentChildren } from 'preact';

interface MenuProps {
  readonly class: string;
  readonly name: string;
  readonly children: ComponentChildren;
}

export function Menu({ class: kind, name, children }: MenuProps) {
  return (
    <details
      class={kind}
      onKeyDown={({ key, currentTarget }) => {
        if (key !== 'Escape' || !currentTarget.open) return;
        currentTarget.open = false;
        currentTarget.querySelector('summary')?.focus();
      }}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget))
          currentTarget.open = false;
      }}
    >
      <summary>{name}</summary>
      <div class="menu">{children}</div>
    </details>
  );
}
