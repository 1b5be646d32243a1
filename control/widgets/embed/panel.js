/** The elements of the chat, and where they are put in the page. */
import { maxLength } from './page.js';

/** Replaced by the contents of chat.css when the script is served. */
const css = '@chat.css';

/** Creates an element. Members of `props` are properties; names with a hyphen, and role, are attributes. */
export const make = (tag, props = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.includes('-') || name === 'role' || name === 'for') element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
};

const icon = () => {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', 'M21 12a8 8 0 0 1-8 8H4l2-3a8 8 0 1 1 15-5z');
  svg.append(path);
  return svg;
};

export const createPanel = ({ given, texts, hostId }) => {
  const unread = make('span', { className: 'unread', hidden: true, 'aria-hidden': 'true' });
  const launcher = make(
    'button',
    {
      type: 'button',
      className: 'launcher',
      'aria-expanded': 'false',
      'aria-controls': 'panel',
      'aria-label': texts.open,
    },
    icon(),
    unread,
  );
  const closer = make('button', { type: 'button', 'aria-label': texts.close, textContent: '×' });
  const log = make('div', {
    className: 'log',
    role: 'log',
    tabIndex: 0,
    'aria-live': 'off',
    'aria-labelledby': 'title',
  });
  const status = make('div', { className: 'status', role: 'status' });
  const spoken = make('div', { className: 'hidden', 'aria-live': 'polite', 'aria-atomic': 'true' });
  const input = make('textarea', {
    id: 'input',
    rows: 1,
    maxLength,
    placeholder: texts.placeholder,
    dir: 'auto',
  });
  const form = make(
    'form',
    {},
    make('label', { className: 'hidden', for: 'input', textContent: texts.placeholder }),
    input,
    make('button', { type: 'submit', className: 'send', textContent: texts.send }),
  );
  const again = make('button', {
    type: 'button',
    className: 'again',
    hidden: true,
    textContent: texts.again,
  });
  const panel = make(
    'section',
    { id: 'panel', className: 'panel', role: 'dialog', 'aria-labelledby': 'title', hidden: true },
    make(
      'div',
      { className: 'head' },
      make('h2', { id: 'title', textContent: texts.title, dir: 'auto' }),
      closer,
    ),
    log,
    status,
    form,
    again,
  );
  const root = make('div', { className: 'root' }, panel, launcher, spoken);
  const host = make('div', { id: hostId });

  const dress = () => {
    if (given.position === 'left') root.classList.add('left');
    host.dataset.theme = ['light', 'dark', 'auto'].includes(given.theme) ? given.theme : 'light';
    if (given.lang) root.lang = given.lang;
    const color = /^#[0-9a-f]{6}$/i.test(given.color ?? '') ? given.color : null;
    if (!color) return;
    host.style.setProperty('--chat-color', color);
    host.style.setProperty('--chat-on-color', luminance(color) > 0.179 ? '#000' : '#fff');
  };

  const mount = () => {
    const shadow = host.attachShadow({ mode: 'open' });
    if ('adoptedStyleSheets' in shadow) {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      shadow.adoptedStyleSheets = [sheet];
    } else shadow.append(make('style', { textContent: css }));
    dress();
    shadow.append(root);
    document.body.append(host);
  };

  return { unread, launcher, closer, log, status, spoken, input, form, again, panel, root, host, mount };
};

/** Relative luminance (WCAG 2.2): at 0.179 black and white have the same contrast. */
const luminance = (color) => {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
