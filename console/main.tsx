/** The console's start. */
import { render } from 'preact';
import './styles/base.css';
import './styles/parts.css';
import './styles/calls.css';
import './styles/tests.css';
import './styles/connect.css';
import './styles/quality.css';
import { resumeSession } from './api/session.ts';
import { App } from './app.tsx';
import { watchConnection } from './connection.ts';
import { keepFocus } from './parts/focus.ts';
import { startKeys } from './parts/keys.tsx';
import { startTheme } from './parts/theme.tsx';
import { startRouter } from './router.ts';
import { watchVisibility } from './visible.ts';

const root = document.getElementById('console');
if (root) {
  startTheme();
  startRouter();
  startKeys();
  keepFocus();
  watchConnection();
  watchVisibility();
  void resumeSession();
  render(<App />, root);
}
