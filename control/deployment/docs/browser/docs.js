/**
 * The script of the pages under /docs: search, copy buttons, theme, requests to try, and links that keep the page's
 * memory. Plain modules, so nothing is built; text is inserted only as text.
 */
import { addCopyButtons } from './copy.js';
import { startNavigation } from './navigate.js';
import { startSearch } from './search.js';
import { themeButton } from './theme.js';
import { addTryForms } from './try-it.js';

const tools = document.getElementById('docs-tools');
if (tools) {
  const { form, show } = startSearch((url) => navigation.go(url));
  tools.append(form, themeButton());
  const prepare = () => {
    addCopyButtons(document);
    addTryForms(document);
  };
  const navigation = startNavigation(prepare, show);
  prepare();
}
