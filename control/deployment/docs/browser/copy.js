/** A button on every block of code that copies it. */
import { make } from './make.js';

export const addCopyButtons = (part) => {
  for (const block of part.querySelectorAll('main pre:not([data-copy])')) {
    block.dataset.copy = '';
    const button = make('button', { type: 'button', className: 'copy', textContent: 'Copy' });
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? '');
        button.textContent = 'Copied';
      } catch {
        // Without permission, or over plain HTTP away from this machine: the text is marked for copying by hand.
        getSelection()?.selectAllChildren(block);
        button.textContent = 'Marked';
      }
      button.addEventListener('blur', () => (button.textContent = 'Copy'), { once: true });
    });
    const frame = make('div', { className: 'block' });
    block.replaceWith(frame);
    frame.append(block, button);
  }
};
