/** The title of the page: what a tab and the history show. */
import { useEffect } from 'preact/hooks';
import { texts } from '../text/texts.ts';

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
  }, [title]);
}
