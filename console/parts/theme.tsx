/** Light, dark, or as the system; kept in this browser. */
import { signal } from '@preact/signals';
import { readKept, writeKept } from './kept.ts';

export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const theme = signal<Theme>('auto');

export function isTheme(value: string | null): value is Theme {
  return themes.some((one) => one === value);
}

export function startTheme(): void {
  const kept = readKept('theme');
  if (isTheme(kept)) setTheme(kept);
}

export function setTheme(next: Theme): void {
  theme.value = next;
  document.documentElement.dataset.theme = next;
  writeKept('theme', next);
}
