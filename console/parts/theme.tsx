/** Light, dark, or as the system; kept in this browser. */
import { signal } from '@preact/signals';
import { readKept, writeKept } from './kept.ts';

export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const theme = signal<Theme>('auto');
/** Counts changes of what is shown, also those of the system: what draws on a canvas follows it. */
export const themeChanges = signal(0);

export function isTheme(value: string | null): value is Theme {
  return themes.some((one) => one === value);
}

export function startTheme(): void {
  const kept = readKept('theme');
  if (isTheme(kept)) setTheme(kept);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    themeChanges.value++;
  });
}

export function setTheme(next: Theme): void {
  theme.value = next;
  document.documentElement.dataset.theme = next;
  writeKept('theme', next);
  themeChanges.value++;
}
