/**
 * Links between the pages replace what is shown instead of the page, so that a key that was typed to try requests stays
 * in memory and need be stored nowhere. A page comes as a document of the browser, never as text that becomes markup.
 */
const load = (url) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('GET', url);
    request.responseType = 'document';
    request.onload = () =>
      request.status === 200 && request.response ? resolve(request.response) : reject();
    request.onerror = reject;
    request.send();
  });

/** The pages; not pictures, nor files for programs. */
const isPage = ({ origin, pathname }) =>
  origin === location.origin && /^\/docs(\/|$)/.test(pathname) && !/\.[a-z]+$/.test(pathname);

/** @param changed called when another page is shown @param leave called before */
export const startNavigation = (changed, leave) => {
  let shown = location.pathname;

  const jump = (hash) => {
    const target = hash ? document.getElementById(decodeURIComponent(hash.slice(1))) : null;
    if (target) target.scrollIntoView();
    else scrollTo(0, 0);
  };

  const show = async (url) => {
    leave(false);
    const next = await load(url.pathname);
    for (const part of ['nav.contents', 'main', '.toc']) {
      const there = next.querySelector(part);
      const here = document.querySelector(part);
      if (there && here) here.replaceWith(document.adoptNode(there));
    }
    document.title = next.title;
    shown = url.pathname;
    changed();
    jump(url.hash);
    document.querySelector('main')?.focus({ preventScroll: true });
  };

  const go = (href) => {
    const url = new URL(href, location.href);
    if (url.pathname === shown) {
      leave(false);
      location.hash = url.hash;
      return;
    }
    show(url).then(
      () => history.pushState(null, '', url),
      () => location.assign(url),
    );
  };

  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (!link || event.defaultPrevented || event.button !== 0 || link.target) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const url = new URL(link.href);
    if (!isPage(url) || url.pathname === shown) return;
    event.preventDefault();
    go(url);
  });
  addEventListener('popstate', () => {
    if (location.pathname !== shown) show(new URL(location.href)).catch(() => location.reload());
  });
  return { go };
};
