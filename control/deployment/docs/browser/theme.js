/** Light, dark or as the system says; the console of the same browser has the same choice. */
import { make } from './make.js';

const key = 'trunkline.theme';
const themes = ['auto', 'light', 'dark'];

const read = () => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};

export const themeButton = () => {
  const select = make('select', { id: 'docs-theme' });
  select.setAttribute('aria-label', 'Theme');
  for (const theme of themes) select.append(make('option', { value: theme, textContent: theme }));
  const kept = read();
  select.value = themes.includes(kept) ? kept : 'auto';
  const show = () => {
    document.documentElement.dataset.theme = select.value;
  };
  select.addEventListener('change', () => {
    show();
    try {
      localStorage.setItem(key, select.value);
    } catch {
      // Refused: the choice lasts as long as the page.
    }
  });
  show();
  return select;
};
